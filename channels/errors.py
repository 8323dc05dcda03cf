"""What can go wrong in a channel."""

from core.errors import ConfigError, DependencyError, InputError, StateError


class ChannelConfigInvalid(ConfigError):
    """The configuration of a channel can't be used; nothing was started."""

    code = "channel_config_invalid"


class DeliveryFailed(DependencyError):
    """A chat service took a message not, or not for sure.

    Attributes:
        retry_after_s: how long the service wants to be left alone, seconds; None when it did not say.
    """

    code = "channel_delivery_failed"

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class PairingNotKept(DependencyError):
    """The disk did not take who asks for pairing, or who was let in; nothing was changed."""

    code = "channel_pairing_not_kept"


class InvalidMessage(InputError):
    """A body was signed well and is no message."""

    code = "invalid_channel_message"


class FileNotFetched(DependencyError):
    """A chat service did not give what came with a message.

    Attributes:
        is_too_large: whether that is why.
    """

    code = "channel_file_not_fetched"

    def __init__(self, message: str, *, is_too_large: bool = False) -> None:
        super().__init__(message)
        self.is_too_large = is_too_large


class TurnCalledOff(StateError):
    """A turn raised after it was cancelled: who asked for it knows already that there is no answer."""

    code = "channel_turn_called_off"


class AgentSessionFailed(DependencyError):
    """The agent opened no usable session."""

    code = "agent_session_failed"


class ChannelCredentialsRefused(ConfigError):
    """The chat service does not know the channel's token; nothing is received until another is configured."""

    code = "channel_credentials_refused"


class ChatServiceUnreachable(DependencyError):
    """The chat service can't be talked to now; nothing was received."""

    code = "chat_service_unreachable"
