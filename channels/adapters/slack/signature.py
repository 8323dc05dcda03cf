"""Slack's signatures of what it posts: https://docs.slack.dev/authentication/verifying-requests-from-slack."""

from channels.signing import SignatureScheme

SIGNATURE_HEADER = "X-Slack-Signature"
TIMESTAMP_HEADER = "X-Slack-Request-Timestamp"

SCHEME = SignatureScheme(TIMESTAMP_HEADER, SIGNATURE_HEADER, mark="v0=", opening=b"v0:", separator=b":")

sign = SCHEME.sign
