"""Clients, workers, sweepers and operators on three lanes: what they may call, in any order."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from core.ids import Kind
from jobs.intake import Gate
from tests.support.lane_model_records import CANCELLED, Ending
from tests.support.lane_model_redis import DAY_MS
from tests.support.lane_model_steps import CLIENT, SideBySide, picked

# draws never depend on the state: a replay makes the same ones whatever the clock did meanwhile
lane_numbers = st.sampled_from((0, 0, 0, 0, 1, 2))  # most of it on one lane, so that it gets far
picks = st.integers(0, 11)
rarely = st.sampled_from((False, False, False, True))
mostly = st.sampled_from((True, True, False))
lost_replies = st.sampled_from((False, False, True))
kinds = st.sampled_from(("remember", "remember", "forget", "dream"))
threes = st.sampled_from(
    (("remember", "forget", "remember"), ("forget", "dream", "remember"), ("dream", "remember", "forget"))
)
clients = st.sampled_from((None, CLIENT))
owners = st.sampled_from(("worker-1", "worker-11"))  # one begins like the other
endings = st.sampled_from(
    (
        Ending("completed", changed=True),
        Ending("completed"),
        Ending("failed", code="remember_failed"),
        CANCELLED,
        Ending("queued"),
        Ending("queued", cause="store_busy"),
        Ending("queued", cause="unresolved"),
    )
)
LENGTHS_MS: Mapping[str, int] = {"20 s": 20_011, "2 min": 125_003, "10 min": 600_011, "a life": 70_001}


class LaneMachine(SideBySide):
    """One call at a time; any reply may be lost, and the call is then made again."""

    @initialize(filled=st.sampled_from((True, True, False)))
    def begin(self, filled: bool):
        if filled:
            self.submit_three(0, ("remember", "forget", "remember"), "open", CLIENT)

    @rule(
        number=lane_numbers,
        kind=kinds,
        key=st.sampled_from((None, None, None, None, "key-1", "key-2")),
        text=st.sampled_from(("one", "one", "two")),
        gate=st.sampled_from(("open", "open", "open", "open", "open", "busy", "closed")),
        client=clients,
        lost=lost_replies,
    )
    def submit(
        self, number: int, kind: Kind, key: str | None, text: str, gate: Gate, client: str | None, lost: bool
    ):
        lane = self.lanes[number]
        self.submit_asked(lane, self.ask(lane, kind, text, client, key), gate, lost=lost)

    @rule(number=lane_numbers, three=threes, gate=st.sampled_from(("open", "open", "busy")), client=clients)
    def submit_three(self, number: int, three: Sequence[Kind], gate: Gate, client: str | None):
        lane = self.lanes[number]
        for kind in three:
            self.submit_asked(lane, self.ask(lane, kind, "one", client), gate)

    @rule(number=lane_numbers, text=st.sampled_from(("one", "two")), later=st.booleans())
    def use_a_key_again(self, number: int, text: str, later: bool):
        """Even where nothing new is let in; ``later``: when its task is forgotten, if that ever ended."""
        lane = self.lanes[number]
        keyed = picked([asked for asked in self.asked[lane.workspace] if asked.key in lane.keys], 0)
        if keyed is None:
            keyed = self.ask(lane, "remember", "one", CLIENT, "key-1")
            self.submit_asked(lane, keyed, "open")
        if later:
            self.cancel_task(lane, keyed.task)
            self.let_pass(lane, LENGTHS_MS["a life"])
        self.submit_asked(lane, self.ask(lane, keyed.kind, text, keyed.client, keyed.key), "closed")

    @rule(
        number=lane_numbers,
        pick=picks,
        text=st.sampled_from(("one", "two")),
        gate=st.sampled_from(("open", "closed")),
    )
    def submit_again(self, number: int, pick: int, text: str, gate: Gate):
        lane = self.lanes[number]
        asked = picked(self.asked[lane.workspace], pick)
        # an id comes again within seconds or never: one whose record is gone is no case
        if asked and lane.record(asked.task):
            self.submit_asked(lane, replace(asked, text=text), gate)

    @rule(
        number=lane_numbers,
        busy=mostly,
        which=st.sampled_from(("running", "head", "any")),
        pick=picks,
        lost=lost_replies,
    )
    def cancel(self, number: int, busy: bool, which: str, pick: int, lost: bool):
        lane = self.lane(number, busy=busy)
        asked = picked(self.asked[lane.workspace], pick)
        head = lane.pending[0] if lane.pending else None
        task = {"running": lane.running, "head": head}.get(which) or (asked.task if asked else "remember-0")
        self.cancel_task(lane, task, lost=lost)

    @rule(
        number=lane_numbers,
        owner=owners,
        store=st.sampled_from(("store", "store", "store", "other")),
        empty=rarely,
        patient=st.sampled_from((False, False, True)),
        lost=lost_replies,
    )
    def claim(self, number: int, owner: str, store: str, empty: bool, patient: bool, lost: bool):
        lane = self.lanes[number]
        if empty:
            self.run_out(lane)
        self.claim_lane(lane, self.new_claim(owner), store, patient=patient, lost=lost)

    @rule(number=lane_numbers, pick=picks)
    def claim_again(self, number: int, pick: int):
        lane = self.lanes[number]
        holder = picked(self.holders[lane.workspace], pick)
        if holder:
            self.claim_lane(lane, holder.grant.claim, holder.store)

    @rule(number=lane_numbers, busy=mostly, pick=picks, lost=lost_replies)
    def renew(self, number: int, busy: bool, pick: int, lost: bool):
        self.renew_lease(self.lane(number, busy=busy), pick, lost=lost)

    @rule(
        number=lane_numbers, busy=mostly, pick=picks, ahead_ms=st.sampled_from((0, DAY_MS)), lost=lost_replies
    )
    def refence(self, number: int, busy: bool, pick: int, ahead_ms: int, lost: bool):
        self.refence_lease(self.lane(number, busy=busy), pick, ahead_ms, lost=lost)

    @rule(number=lane_numbers, busy=mostly, pick=picks, ending=endings, lost=lost_replies)
    def finish(self, number: int, busy: bool, pick: int, ending: Ending, lost: bool):
        self.finish_run(self.lane(number, busy=busy), pick, ending, lost=lost)

    @rule(number=lane_numbers, busy=mostly, pick=picks, ending=endings, lost=lost_replies)
    def finish_and_claim(self, number: int, busy: bool, pick: int, ending: Ending, lost: bool):
        self.finish_run_and_claim(self.lane(number, busy=busy), pick, ending, lost=lost)

    @rule(number=lane_numbers, ending=endings, times=st.sampled_from((1, 1, 1, 2, 7)), slowly=rarely)
    def run_the_head(self, number: int, ending: Ending, times: int, slowly: bool):
        lane = self.lanes[number]
        for _ in range(times):
            self.let_pass(lane, LENGTHS_MS["10 min"] if slowly else 0)
            self.put_to_work(lane)
            self.finish_run(lane, 0, ending)

    @rule(number=lane_numbers, proven=rarely, wakes=rarely, patient=rarely)
    def lose_the_worker(self, number: int, proven: bool, wakes: bool, patient: bool):
        """Its lease ends; it may renew once more before another claims."""
        lane = self.lane(number, busy=True)
        if lane.claim_id is None:
            return
        if proven:
            self.prove_dead(lane.claim_id.partition(":")[0])
        else:
            self.let_pass(lane, self.ms_until(lane, "lease end"))
        if wakes:
            self.renew_lease(lane, 0)
            self.let_pass(lane, self.ms_until(lane, "lease end"))
        self.claim_lane(lane, self.new_claim("worker-1"), lane.store or "store", patient=patient)

    @rule(number=lane_numbers, sure=rarely, lost=lost_replies)
    def hold(self, number: int, sure: bool, lost: bool):
        lane = self.lanes[number]
        if sure:
            self.step("hold", lambda: self.real.hold(lane.workspace), lane.hold, lost=lost)

    @rule(number=lane_numbers, sure=rarely, lost=lost_replies)
    def unhold(self, number: int, sure: bool, lost: bool):
        lane = self.lanes[number]
        if sure or lane.held:
            self.step("unhold", lambda: self.real.unhold(lane.workspace), lane.unhold, lost=lost)

    @rule(number=lane_numbers, sure=rarely, queued=st.sampled_from((None, "one", "keyed")), lost=lost_replies)
    def drop_workspace(self, number: int, sure: bool, queued: str | None, lost: bool):
        lane = self.lanes[number]
        if not sure:
            return
        if queued:
            key = "key-2" if queued == "keyed" else None
            self.submit_asked(lane, self.ask(lane, "remember", "one", CLIENT, key), "open")
        self.drop_lane(lane, lost=lost)

    @rule(
        hint=st.sampled_from(("unknown", "empty", "older", "older", "younger", "same")),
        number=lane_numbers,
        lane_is=st.sampled_from(("as it is", "waiting", "waiting", "busy", "empty")),
        when=st.sampled_from(("due", "due", "early", "2 min", "now")),
        lost=lost_replies,
    )
    def sweep(self, hint: str, number: int, lane_is: str, when: str, lost: bool):
        lane = self.lanes[number]
        stages = {"waiting": self.let_wait, "busy": self.put_to_work, "empty": self.run_out}
        if lane_is in stages:
            stages[lane_is](lane)
        if when == "early":
            self.step("make_due", lambda: self.real.make_due(lane.workspace), lambda _: lane.make_due())
        elif when != "now":
            self.let_pass(lane, LENGTHS_MS.get(when) or self.ms_until(lane, "due"))
        doorbell_ms = lane.doorbell_ms
        same = doorbell_ms if isinstance(doorbell_ms, int) else 0
        stamps = {"unknown": None, "empty": 0, "older": 1, "younger": self.clock_ms + 1, "same": same}
        self.sweep_all(stamps[hint], lost=lost)

    @rule(owner=owners, sure=rarely, lost=lost_replies)
    def expire_owner(self, owner: str, sure: bool, lost: bool):
        if sure:
            self.prove_dead(owner, lost=lost)

    @rule(
        number=lane_numbers,
        until=st.sampled_from(("due", "due", "lease end", "lease end", *LENGTHS_MS)),
    )
    def pass_time(self, number: int, until: str):
        lane = self.lanes[number]
        self.let_pass(lane, LENGTHS_MS.get(until) or self.ms_until(lane, until))

    @rule(number=lane_numbers, key=st.sampled_from(("key-1", "key-2")))
    def forget_key(self, number: int, key: str):
        lane = self.lanes[number]
        if key in lane.keys:
            self.step(
                "forget_key",
                lambda: self.real.forget_key(lane.workspace, key),
                lambda _: lane.forget_key(key),
            )
