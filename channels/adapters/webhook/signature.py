"""Signatures of webhooks: over ``<timestamp>.<raw body>``, in hex after ``sha256=``."""

from channels.signing import SignatureScheme

TIMESTAMP_HEADER = "X-Memlane-Timestamp"
DELIVERY_HEADER = "X-Memlane-Delivery"
SIGNATURE_HEADER = "X-Memlane-Signature"

SCHEME = SignatureScheme(TIMESTAMP_HEADER, SIGNATURE_HEADER, mark="sha256=", opening=b"", separator=b".")

sign = SCHEME.sign
is_signed = SCHEME.is_signed
