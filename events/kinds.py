"""Names of everything that can happen. Clients that don't know one ignore it.

What is in a log is written by the Lua scripts; a test holds their names against these.
"""

MEMORY_CHANGED = "memory_changed"

SESSION_CLOSED = "session_closed"

TASK_QUEUED = "task_queued"
TASK_RUNNING = "task_running"
TASK_PROGRESS = "task_progress"  # an aside: in no log
TASK_COMPLETED = "task_completed"
TASK_FAILED = "task_failed"
TASK_CANCELLED = "task_cancelled"

CHANNEL_TASK_STARTED = "channel_task_started"
CHANNEL_TASK_TEXT_CHUNK = "channel_task_text_chunk"
CHANNEL_TASK_TOOL_CALL = "channel_task_tool_call"
CHANNEL_TASK_CANCELLED = "channel_task_cancelled"
CHANNEL_TASK_COMPLETED = "channel_task_completed"
CHANNEL_TASK_FAILED = "channel_task_failed"

REPLAY_COMPLETE = "replay_complete"
STATE_RESYNC_REQUIRED = "state_resync_required"
SLOW_CLIENT_WARNING = "slow_client_warning"
CLIENT_EVICTED = "client_evicted"
