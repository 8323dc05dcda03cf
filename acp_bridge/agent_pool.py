"""The warm children of one command: at most one a workspace, and not many at once."""

import asyncio
from collections.abc import Mapping

from acp_bridge.process import Launch
from acp_bridge.workspace_agent import WorkspaceAgent


class AgentPool:
    """Children by workspace. For use on one loop's thread."""

    def __init__(self, launch: Launch, *, idle_s: float) -> None:
        """Start nothing yet; a child without work for ``idle_s`` seconds will be stopped."""
        self._launch = launch
        self._idle_s = idle_s
        self._agents: dict[str, WorkspaceAgent] = {}  # least recently used first

    def take(self, workspace: str) -> WorkspaceAgent:
        """The workspace's agent, to be used now; an idle child goes if that makes too many.

        The least recently used one; there may be ``Limits.max_children``.
        """
        agent = self._agents.pop(workspace, None)
        if agent is None:
            agent = WorkspaceAgent(self._launch, workspace, idle_s=self._idle_s, on_idle=self._retire_surplus)
        self._agents[workspace] = agent
        if not agent.occupied:
            self._retire_surplus(wanted=1)
        return agent

    def extend_to(self, workspace: str, deadline_ms: int) -> None:
        """Let the workspace's child live on as ``WorkspaceAgent.extend_to`` says; fine when there is none."""
        agent = self._agents.get(workspace)
        if agent is not None:
            agent.extend_to(deadline_ms)

    def kill(self, workspace: str) -> None:
        """Kill the workspace's child, one that is still starting too; fine when there is none."""
        agent = self._agents.get(workspace)
        if agent is not None:
            agent.kill()

    def pids(self) -> Mapping[str, int]:
        """Process ids of the living children's guards by workspace."""
        return {path: agent.pid for path, agent in self._agents.items() if agent.pid is not None}

    async def close(self) -> None:
        """Stop all children and wait for their ends; nothing can be started afterwards."""
        await asyncio.gather(*(agent.close() for agent in self._agents.values()))

    def _retire_surplus(self, *, wanted: int = 0) -> None:
        """Stop idle children over the cap, with room for so many more; busy ones go once they are idle."""
        occupied = sum(agent.occupied for agent in self._agents.values())
        excess = occupied + wanted - self._launch.limits.max_children
        idle = [agent for agent in self._agents.values() if agent.idle]
        for agent in idle[: max(0, excess)]:
            agent.retire()
