"""Slack: messages by Socket Mode or the Events API, answers by the Web API."""
