from core.ids import TaskId, WorkspaceId
from core.keys import PARTITIONS, LaneKeys, PartitionKeys, partition_of, worker


def test_all_keys_of_a_lane_share_the_hash_tag_of_its_partition():
    keys = LaneKeys(WorkspaceId("0295621f3cf988a7"))
    tag = f"{{p{partition_of(keys.workspace):03d}}}"

    names = [keys.lane, keys.pending, keys.index, keys.done, keys.events, keys.channel, keys.availability]
    names += [keys.task(TaskId("t")), keys.input(TaskId("t")), keys.partition.due, keys.partition.wait]

    assert all(name.startswith(f"memlane:1:{tag}") for name in names)
    assert len(set(names)) == len(names)


def test_partitions_stay_within_their_number():
    assert {partition_of(WorkspaceId(f"{n:016x}")) for n in range(5000)} == set(range(PARTITIONS))


def test_partition_and_worker_keys():
    assert PartitionKeys(7).stats == "memlane:1:{p007}:stats"
    assert worker("w") == "memlane:1:worker:w"
