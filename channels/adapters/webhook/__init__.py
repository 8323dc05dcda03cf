"""Any service that can post JSON, by signed requests in both directions."""
