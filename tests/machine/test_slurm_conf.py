"""Machines from Slurm's configuration: what each kind of line means, what is listed as not mapped, what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from workloads import examples

import schedlab as sl
from schedlab.machine.slurm_conf import SlurmConfError

pytestmark = pytest.mark.tables

NODES = "NodeName=n[1-4] CPUs=8\n"
CPU = "PartitionName=cpu Nodes=ALL\n"
GPUS = "NodeName=n[1-4] CPUs=8 Gres=gpu:4\n"
ENFORCED = "AccountingStorageEnforce=limits\n"


@pytest.fixture
def read(tmp_path):
    """Return a function that reads a configuration from its text, that of QOS, and those of further files by name."""

    def read(text, qos=None, **files):
        texts = {"slurm.conf": text, "qos.txt": qos or "", **{f"{name}.conf": file for name, file in files.items()}}
        for name, content in texts.items():
            (tmp_path / name).write_text(content, encoding="utf-8")
        return sl.read_slurm_conf(tmp_path / "slurm.conf", None if qos is None else tmp_path / "qos.txt")

    return read


def pools(conf):
    """Return the amounts and the partitions of each pool, by name."""
    return {name: (dict(pool.amounts), pool.partitions) for name, pool in conf.machine.pools}


def unmapped(conf, *columns):
    return list(conf.unmapped[list(columns or ("line", "key", "reason"))].itertuples(index=False, name=None))


def limits(conf):
    return [str(limit) for limit in conf.machine.limits]


# --- Nodes ---
@pytest.mark.parametrize(
    ("node", "procs"),
    [
        ("", 1),
        ("CPUs=12", 12),
        ("procs=12", 12),
        ("Sockets=2 CoresPerSocket=8", 16),
        ("sockets=2 corespersocket=8 ThreadsPerCore=2", 32),
        ("Boards=2 SocketsPerBoard=2 CoresPerSocket=4 ThreadsPerCore=1", 16),
        ("CPUs=16 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", 16),
        ('CPUs = "4" Reason="a \\# and two fans" State=UNKNOWN', 4),
    ],
)
def test_processors_of_a_node_are_its_cpus_or_the_product_of_its_parts(read, node, procs):
    conf = read(f"NodeName=a {node}\nPartitionName=p Nodes=a")
    assert pools(conf) == {"p": ({"procs": procs}, ("p",))}
    assert len(conf.unmapped) == 0


def test_a_list_of_nodes_has_names_and_ranges_with_leading_zeros(read):
    text = "NodeName=cn[001-010,070],login,r[0-1]n[8-11] CPUs=2\n"
    parts = {"a": "cn[001-009]", "b": "cn010,cn070", "c": "login", "d": "r0n8,r0n9,r0n10,r0n11", "e": "r1n[8-11]"}
    conf = read(text + "".join(f"PartitionName={name} Nodes={nodes}\n" for name, nodes in parts.items()))
    assert [amounts["procs"] for amounts, _ in pools(conf).values()] == [18, 4, 2, 8, 8]


@examples(100)
@given(st.data())
def test_drawn_ranges_are_read_back(tmp_path_factory, data):
    width = data.draw(st.integers(1, 4))
    numbers = sorted(data.draw(st.sets(st.integers(0, 10**width - 1), min_size=1, max_size=30)))
    spans = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1 and data.draw(st.booleans()):
            spans[-1][1] = number
        else:
            spans.append([number, number])
    ranges = [f"{low:0{width}}" if low == high else f"{low:0{width}}-{high:0{width}}" for low, high in spans]
    names = [f"cn{number:0{width}}x" for number in numbers]
    chosen = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    path = tmp_path_factory.mktemp("conf") / "slurm.conf"
    lines = (f"NodeName=cn[{','.join(ranges)}]x CPUs=3", f"PartitionName=all Nodes={','.join(names)}")
    path.write_text("\n".join(lines))
    assert pools(sl.read_slurm_conf(path)) == {"all": ({"procs": 3 * len(numbers)}, ("all",))}
    path.write_text("\n".join((lines[0], f"PartitionName=some Nodes={','.join(chosen)}")))
    assert pools(sl.read_slurm_conf(path)) == {"some": ({"procs": 3 * len(chosen)}, ("some",))}


def test_lines_of_defaults_hold_for_the_lines_after_them(read):
    conf = read("""
        NodeName=a
        NodeName=DEFAULT CPUs=4 RealMemory=100
        NodeName=b
        nodename=default CPUS=16
        NodeName=c
        NodeName=d CPUs=2 RealMemory=50
        PartitionName=A Nodes=a
        PartitionName=DEFAULT Nodes=b
        PartitionName=B
        PartitionName=C Nodes=c
        PartitionName=D Nodes=d
    """)
    assert pools(conf) == {
        "A": ({"procs": 1}, ("A",)),
        "B": ({"procs": 4, "memory": 100 * 1024}, ("B",)),
        "C": ({"procs": 16, "memory": 100 * 1024}, ("C",)),
        "D": ({"procs": 2, "memory": 50 * 1024}, ("D",)),
    }


def test_lines_go_on_behind_a_backslash_and_end_at_a_comment(read):
    conf = read(
        "# NodeName=x\nNodeName=a,\\\nb,c \\\n  CPUs=4 # CPUs=8 \\\nPartitionName=p Nodes=ALL # all\\\n\nBad=1 \\"
    )
    assert pools(conf) == {"p": ({"procs": 12}, ("p",))}
    conf = read("NodeName=a \\\n CPUs=4\nPartitionName=p \\\n Nodes=a \\\n MaxTime=1\n")
    assert unmapped(conf, "line", "key") == [(3, "MaxTime")]


def test_files_are_included_from_the_folder_of_the_first(read, tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "gpu.conf").write_text("NodeName=g Gres=gpu:1\nInclude parts.conf\n")
    text = f"include nodes.conf # these\nINCLUDE {tmp_path}/deep/gpu.conf"
    conf = read(text, nodes="NodeName=a CPUs=4\n", parts="PartitionName=p Nodes=ALL MaxNodes=1\n")
    assert pools(conf) == {"p": ({"procs": 5, "gpus": 1}, ("p",))}
    assert unmapped(conf, "file", "line", "of", "key", "value") == [
        ("parts.conf", 1, "PartitionName=p", "MaxNodes", "1")
    ]


@pytest.mark.parametrize(
    ("gres", "gpus"),
    [
        ("gpu:4", 4),
        ("gpu", 1),
        ("GPU:a100:4", 4),
        ("gpu:a100:2,gpu:a100:1", 3),
        ("gpu:a:no_consume:2", 2),
        ("gpu:0", 0),
        ("gpu:1K", 1024),
    ],
)
def test_gpus_are_counted(read, gres, gpus):
    conf = read(f"NodeName=a,b Gres={gres}\n{CPU}")
    assert pools(conf)["cpu"][0].get("gpus", 0) == 2 * gpus
    assert len(conf.unmapped) == 0


def test_other_resources_and_types_of_gpus_are_listed(read):
    conf = read(f"NodeName=a Gres=gpu:a100:4,shard:8\nNodeName=b Gres=gpu:2,lustre:no_consume:4G\n{CPU}")
    assert pools(conf)["cpu"][0] == {"procs": 2, "gpus": 6}
    assert unmapped(conf) == [
        (1, "Gres", "shard is not counted: of generic resources, only GPUs are"),
        (2, "Gres", "lustre is not counted: of generic resources, only GPUs are"),
        (1, "Gres", "GPUs of pool cpu count alike: of no type, a100"),
    ]


def test_memory_is_counted_where_all_nodes_of_a_pool_have_it(read):
    text = "NodeName=a RealMemory=1000\nNodeName=b RealMemory=1\nNodeName=c\n"
    conf = read(f"{text}PartitionName=p Nodes=a\nPartitionName=q Nodes=b,c")
    assert pools(conf) == {"p": ({"procs": 1, "memory": 1_024_000}, ("p",)), "q": ({"procs": 2}, ("q",))}
    assert len(conf.unmapped) == 0
    conf = read(text + CPU)
    assert pools(conf) == {"cpu": ({"procs": 3}, ("cpu",))}
    assert unmapped(conf) == [(2, "NodeName", "no RealMemory: pool cpu counts no memory")]


@pytest.mark.parametrize(
    ("select", "counts"), [("CR_Core_Memory", True), ("cr_cpu_memory,X", True), ("CR_Core", False)]
)
def test_memory_is_counted_if_it_is_a_resource(read, select, counts):
    conf = read(f"SelectTypeParameters={select}\nNodeName=a RealMemory=1000\n{CPU}")
    assert ("memory" in pools(conf)["cpu"][0]) == counts
    assert ("memory is no resource, and no pool counts it" in [*conf.unmapped["reason"]]) != counts


@pytest.mark.parametrize("state", ["DOWN", "drain", "FAIL", "FUTURE"])
@pytest.mark.parametrize("how", ["NodeName", "DownNodes"])
def test_nodes_that_are_down_are_left_out(read, how, state):
    lines = {"NodeName": f"NodeName=x CPUs=9 State={state}\n", "DownNodes": f"NodeName=x\nDownNodes=x State={state}\n"}
    conf = read(f"{NODES}{lines[how]}{CPU}PartitionName=none Nodes=x")
    assert pools(conf) == {"cpu": ({"procs": 32}, ("cpu",))}
    assert unmapped(conf, "key", "value", "reason") == [
        ("State", state, "takes no jobs: left out"),
        ("PartitionName", "none", "no node takes its jobs: left out"),
    ]


def test_nodes_are_down_without_a_state_only_by_a_line_of_down_nodes(read):
    conf = read(f'{NODES}DownNodes=n[1-2]\nDownNodes=n4 State=UNKNOWN Reason="a disk"\n{CPU}')
    assert pools(conf) == {"cpu": ({"procs": 16}, ("cpu",))}
    assert unmapped(conf) == [(2, "DownNodes", "takes no jobs: left out")]


def test_a_state_by_default_is_listed_once(read):
    conf = read(f"{NODES}NodeName=DEFAULT State=DOWN\nNodeName=a\nNodeName=b\n{CPU}")
    assert pools(conf) == {"cpu": ({"procs": 32}, ("cpu",))}
    assert unmapped(conf) == [(2, "State", "takes no jobs: left out")]


# --- Partitions ---
@pytest.mark.parametrize("state", ["DOWN", "Drain", "INACTIVE"])
def test_partitions_that_are_down_are_left_out(read, state):
    conf = read(f"{NODES}PartitionName=p Nodes=n[1-2] State=UP\nPartitionName=all Nodes=ALL State={state}")
    assert pools(conf) == {"p": ({"procs": 16}, ("p",))}
    assert unmapped(conf) == [
        (3, "State", "takes no jobs: left out"),
        (1, "NodeName", "nodes in no partition that is up, left out: 2"),
    ]


def test_partitions_of_the_same_nodes_are_one_pool(read):
    conf = read(f"{NODES}PartitionName=debug Nodes=n[1-4]\nPartitionName=cpu Nodes=all\nPartitionName=x Nodes=n[4,1-3]")
    assert pools(conf) == {"debug": ({"procs": 32}, ("debug", "cpu", "x"))}
    assert len(conf.unmapped) == 0


def test_partitions_that_share_some_nodes_are_one_pool_and_the_lost_bound_is_listed(read):
    parts = {"a": "n1", "b": "n[3-4]", "c": "n2", "d": "n[1,3]"}
    text = "".join(f"PartitionName={name} Nodes={nodes}\n" for name, nodes in parts.items())
    conf = read(f"{NODES}{text}")
    assert pools(conf) == {"b": ({"procs": 24}, ("a", "b", "d")), "c": ({"procs": 8}, ("c",))}
    lost = "of the 24 procs of pool b, which serves partitions that share nodes: this bound is lost"
    assert unmapped(conf) == [(2, "Nodes", f"8 {lost}"), (3, "Nodes", f"16 {lost}"), (5, "Nodes", f"16 {lost}")]


@examples(60)
@given(st.lists(st.sets(st.integers(0, 7)), min_size=1, max_size=7))
def test_pools_are_the_partitions_that_are_connected_by_shared_nodes(tmp_path_factory, sets):
    sets = {f"p{i}": members for i, members in enumerate([{0}, *sets])}
    lines = [f"NodeName=n{i} CPUs={2**i}" for i in range(8)]
    lines += [f'PartitionName={name} Nodes="{",".join(f"n{i}" for i in members)}"' for name, members in sets.items()]
    path = tmp_path_factory.mktemp("conf") / "slurm.conf"
    path.write_text("\n".join(lines))
    conf = sl.read_slurm_conf(path)
    of = {name: dict(pool.amounts)["procs"] for _, pool in conf.machine.pools for name in pool.partitions}
    assert set(of) == {name for name, members in sets.items() if members}
    for name, members in sets.items():
        reached = set(members)  # by as many steps as there are partitions
        for _ in sets:
            reached |= set().union(*(other for other in sets.values() if other & reached))
        assert of.get(name, 0) == sum(2**i for i in reached)
    assert conf.machine.procs == sum(2**i for i in set().union(*sets.values()))


def test_sets_of_nodes_are_named_or_chosen_by_a_feature(read):
    conf = read("""
        NodeSet=fast Feature=hdr
        NodeSet=few Nodes=a,b
        PartitionName=p Nodes=fast
        PartitionName=q Nodes=few,e
        NodeName=a,b
        NodeName=c,d Feature=big,hdr
        NodeName=e Features=hdr100
    """)
    assert pools(conf) == {"p": ({"procs": 2}, ("p",)), "q": ({"procs": 3}, ("q",))}
    assert unmapped(conf, "line", "key") == [(7, "Feature"), (8, "Features")]


def test_several_lines_of_a_partition_add_nodes_and_the_last_state_holds(read):
    text = f"{NODES}PartitionName=p Nodes=n1 State=DOWN\nPartitionName=p Nodes=n2 State=UP\n"
    assert pools(read(text)) == {"p": ({"procs": 16}, ("p",))}
    conf = read(f"{text}PartitionName=q Nodes=n3\nPartitionName=p State=DOWN")
    assert pools(conf) == {"q": ({"procs": 8}, ("q",))}


# --- What is not mapped ---
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("SchedulerType", "sched/backfill"),
        ("schedulerparameters", "bf_window=1440,bf_continue"),
        ("PriorityWeightFairshare", "1000"),
        ("PreemptType", "preempt/qos"),
        ("SelectType", "select/linear"),
        ("DefMemPerCPU", "2000"),
        ("MaxArraySize", "1000"),
        ("Licenses", "matlab:10"),
        ("TopologyPlugin", "topology/tree"),
        ("AccountingStorageEnforce", "limits"),
        ("CompleteWait", "30"),
    ],
)
def test_settings_of_the_scheduler_are_listed(read, key, value):
    conf = read(f"{NODES}{key}={value}\n{CPU}")
    ((line, of, name, text, reason),) = unmapped(conf, "line", "of", "key", "value", "reason")
    assert (line, of, name, text) == (2, "", key, value)
    assert reason
    assert f"{key} (slurm.conf:2): {reason}" in repr(conf)


def test_settings_that_have_nothing_to_do_with_schedules_are_not_listed(read):
    conf = read(f"""
        ClusterName=x SlurmctldHost=ctl(10.0.0.1)
        SlurmctldPort=6817
        SlurmdSpoolDir=/var/spool/slurmd.%n
        SlurmctldTimeout=120
        SlurmctldLogFile=
        AccountingStorageType=accounting_storage/slurmdbd
        ReturnToService=2
        TaskPlugin=task/affinity,task/cgroup
        {NODES}{CPU}
    """)
    assert len(conf.unmapped) == 0
    assert "not mapped: 0 values>" in repr(conf)


def test_keys_of_partitions_and_nodes_are_listed_once_where_they_are_written(read):
    conf = read("""
        NodeName=DEFAULT Weight=2 CoreSpecCount=1
        NodeName=a,b NodeAddr=10.0.0.[1-2] Port=17000 TmpDisk=100
        PartitionName=DEFAULT MaxTime=60
        PartitionName=p Nodes=a Default=YES MaxNodes=1 AllowAccounts=x PriorityTier=2 PreemptMode=off Hidden=NO
        PartitionName=q Nodes=b OverSubscribe=EXCLUSIVE QOS=q TRESBillingWeights="CPU=1.0,Mem=0.25G" Novel=1
    """)
    keys = {2: ["Weight", "CoreSpecCount"], 3: ["TmpDisk"], 4: ["MaxTime"]}
    keys |= {5: ["Default", "MaxNodes", "AllowAccounts", "PriorityTier", "PreemptMode"]}
    keys |= {6: ["OverSubscribe", "QOS", "TRESBillingWeights", "Novel"]}
    assert unmapped(conf, "line", "key") == [(line, key) for line in keys for key in keys[line]]
    assert conf.unmapped["reason"].iloc[-1] == "not known here"
    assert conf.unmapped["value"].iloc[-2] == "CPU=1.0,Mem=0.25G"


def test_the_repr_says_what_was_read_and_what_each_pool_is(read):
    nodes = "".join(f"NodeName=m{i} CPUs=8 Weight={i}\n" for i in range(3))
    text = f"{ENFORCED}{nodes}PartitionName=cpu Nodes=ALL\nPartitionName=debug Nodes=m[0-2]\n"
    assert repr(read(text, "Name|GrpTRES\ndebug|cpu=64\n")).splitlines() == [
        "<SlurmConf slurm.conf: 3 nodes, 2 partitions; qos.txt: 1 QOS",
        "   pool cpu: 24 processors; partitions cpu, debug",
        "   limit: 64 procs of qos debug",
        "   not mapped: 4 values, in .unmapped",
        "      AccountingStorageEnforce (slurm.conf:1): limits are those of qos=; those of associations are not read",
        "      Weight (slurm.conf:2 and 2 more): in a pool, which nodes, sockets or cores a job gets is not simulated>",
    ]


def test_no_name_controls_a_terminal(read):
    assert "\x1b" not in repr(read(f"{NODES}PartitionName=p\x1b[2J Nodes=ALL MaxTime=1"))


# --- QOS ---
def test_limits_of_qos_are_limits_by_qos(read):
    qos = "Name|GrpTRES|GrpJobs\nnormal||\ndebug|cpu=64,gres/gpu=8|4\nlong|cpu=128|-1\n"
    conf = read(f"{ENFORCED}{GPUS}{CPU}", qos)
    assert conf.machine.limits == (
        sl.Limit("qos", procs={"debug": 64, "long": 128}, gpus={"debug": 8}, running={"debug": 4}),
    )
    assert unmapped(conf, "key") == [("AccountingStorageEnforce",)]


@pytest.mark.parametrize(("suffix", "column"), [("PU", "user"), ("PerUser", "user"), ("PA", "account")])
def test_limits_of_each_user_that_are_the_same_for_all_qos_are_mapped(read, suffix, column):
    head = f"Name|MaxTRES{suffix}|MaxJobs{suffix}\n"
    conf = read(ENFORCED + NODES + CPU, f"{head}a|cpu=64|2\n")
    assert conf.machine.limits == (sl.Limit(column, procs=64, running=2),)
    assert unmapped(conf, "key") == [("AccountingStorageEnforce",)]
    conf = read(ENFORCED + NODES + CPU, f"{head}a|cpu=64|2\nb|cpu=64|2\n")
    assert conf.machine.limits == (sl.Limit(column, procs=64, running=2),)
    assert [*conf.unmapped["reason"]][1:] == [f"applied to all jobs of each {column} together, not by QOS"] * 4


@pytest.mark.parametrize("other", ["cpu=32", ""])
def test_limits_of_each_user_that_differ_by_qos_are_listed(read, other):
    conf = read(ENFORCED + NODES + CPU, f"Name|MaxTRESPU|MaxJobsPU\na|cpu=64|2\nb|{other}|2\n")
    assert conf.machine.limits == (sl.Limit("user", running=2),)
    listed = [row[1:] for row in unmapped(conf, "key", "line", "of", "value", "reason") if row[0] == "MaxTRESPU"]
    differ = "limits by user that differ by QOS are not applied"
    assert listed == [(2, "QOS=a", "cpu=64", differ), (3, "QOS=b", other, differ)][: 1 + bool(other)]


def test_other_limits_of_qos_are_listed(read):
    head = (
        "Name|Priority|GraceTime|Preempt|PreemptMode|Flags|UsageFactor|GrpTRES|GrpTRESMins|GrpJobs|MaxTRES|MaxSubmitPU"
    )
    empty = "normal|0|00:00:00||cluster||1.000000|||||"
    full = "debug|10|00:05:00|low|requeue|DenyOnLimit|0.500000|cpu=9,node=3,gres/gpu=1|cpu=5|0|cpu=4|10"
    conf = read(ENFORCED + NODES + CPU, f"{head}\n{empty}\n{full}\n")
    assert limits(conf) == ["9 procs of qos debug"]
    rows = unmapped(conf, "line", "key")[1:]
    keys = ["Priority", "GraceTime", "Preempt", "PreemptMode", "Flags", "UsageFactor", "GrpTRES", "GrpTRES"]
    keys += ["GrpTRESMins", "MaxTRES", "MaxSubmitPU", "GrpJobs"]
    assert rows == [(3, key) for key in keys]
    assert "lets no job run, which trace.where() can leave out" in [*conf.unmapped["reason"]]


def test_limits_that_are_not_enforced_are_applied_and_that_is_listed(read):
    conf = read(NODES + CPU, "Name|GrpTRES|\nnormal||\ndebug|cpu=64|\n")
    assert limits(conf) == ["64 procs of qos debug"]
    reason = "limits are applied, although AccountingStorageEnforce does not enforce limits"
    assert unmapped(conf, "file", "key", "reason") == [("qos.txt", "Name", reason)]
    text = f"AccountingStorageEnforce=qos,Safe\nSchedulerType=sched/backfill\n{NODES}{CPU}"
    assert unmapped(read(text, "Name|GrpTRES\na|cpu=1"), "line") == [(1,), (2,)]


# --- What is refused ---
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "slurm.conf: no nodes, expected lines such as NodeName=cn[001-064] CPUs=64"),
        ("NodeName=DEFAULT CPUs=4", "slurm.conf: no nodes, expected"),
        (NODES, "slurm.conf: no partitions, expected lines such as PartitionName=cpu Nodes=ALL"),
        (f"{NODES}PartitionName=p Nodes=n1 State=DOWN", "slurm.conf: no partition of nodes that are up, expected"),
        (f"{NODES}PartitionName=p", "slurm.conf: no partition of nodes that are up, expected"),
        (
            f"{NODES}\nPartitionName=p Nodes=n[1-5]",
            "slurm.conf:3: Nodes is 'n[1-5]', expected nodes that have a line NodeName=...; there is none for 'n5'",
        ),
        (f"{NODES}DownNodes=m {CPU}", "slurm.conf:2: DownNodes is 'm', expected nodes that have a line"),
        (f"{NODES}NodeSet=s nodes=m\n{CPU}", "slurm.conf:2: nodes is 'm', expected nodes that have a line"),
        ("NodeName=n[1-2\n", "slurm.conf:1: NodeName is 'n[1-2', expected names and ranges such as cn[001-064,070]"),
        ("NodeName=n[2-1]\n", "slurm.conf:1: NodeName is 'n[2-1]', expected names and ranges"),
        ("NodeName=n[]\n", "slurm.conf:1: NodeName is 'n[]', expected names and ranges"),
        ("NodeName=n[a-b]\n", "slurm.conf:1: NodeName is 'n[a-b]', expected names and ranges"),
        ("NodeName=n]1[\n", "slurm.conf:1: NodeName is 'n]1[', expected names and ranges"),
        ("NodeName=n[1-9999999]", "slurm.conf:1: NodeName is 'n[1-9999999]', expected names and ranges such as"),
        ("NodeName=n[1-9999]m[1-9999]", "cn[001-064,070], at most 1,000,000 nodes"),
        (
            f"{NODES}NodeName=n4",
            "slurm.conf:2: NodeName is 'n4', expected each node in one line; 'n4' is in line 1 already",
        ),
        ("NodeName=a CPUs=four", "slurm.conf:1: CPUs is 'four', expected whole numbers of at least 1"),
        ("NodeName=a\nNodeName=b Sockets=0", "slurm.conf:2: Sockets is '0', expected whole numbers of at least 1"),
        ("NodeName=DEFAULT cpus=x\n\nNodeName=b", "slurm.conf:1: cpus is 'x', expected whole numbers of at least 1"),
        ("NodeName=a RealMemory=64G", "slurm.conf:1: RealMemory is '64G', expected whole numbers of at least 0"),
        ("NodeName=a Gres=gpu:a100:x", "slurm.conf:1: Gres is 'gpu:a100:x', expected generic resources such as gpu:4"),
        (f"{NODES}Some words", "slurm.conf:2: line is 'Some words', expected Key=Value"),
        ("NodeName=a \\\n Reason=no disk", "slurm.conf:1: line is 'NodeName=a  Reason=no disk', expected Key=Value"),
        (f"{NODES}\nInclude no.conf", "slurm.conf:3: Include is 'no.conf', expected another file in folder"),
        ("include slurm.conf", "slurm.conf:1: Include is 'slurm.conf', expected another file in folder"),
        ("include more.conf", "more.conf:1: Include is './slurm.conf', expected another file in folder"),
    ],
)
def test_a_wrong_file_is_refused_with_one_message(read, text, message):
    with pytest.raises(SlurmConfError) as error:
        read(text, more="include ./slurm.conf\n")
    assert message in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_a_message_shows_the_begin_of_a_long_value(read):
    with pytest.raises(
        SlurmConfError, match=r"slurm\.conf:2: Nodes is 'n1(,n1)+\.\.\.', expected nodes .* for 'x'"
    ) as error:
        read(f"{NODES}PartitionName=p Nodes={'n1,' * 5000}x")
    assert len(str(error.value)) < 200


def test_a_file_that_includes_itself_by_a_detour_is_refused(read, tmp_path):
    with pytest.raises(SlurmConfError, match=r"slurm\.conf:1: Include is '\.\./.*', expected another file in folder"):
        read(f"Include ../{tmp_path.name}/slurm.conf")


@pytest.mark.parametrize(
    ("qos", "message"),
    [
        ("", "qos.txt:1: line is '', expected columns such as Name|GrpTRES, as `sacctmgr show qos -P` prints them"),
        ("normal|5\n", "qos.txt:1: line is 'normal|5', expected columns such as Name|GrpTRES"),
        ("Name|GrpTRES\n\na|b|c\n", "qos.txt:3: line is 'a|b|c', expected 2 values with | between them"),
        ("Name|GrpTRES\na|cpu=x\n", "qos.txt:2: GrpTRES is 'cpu=x', expected whole numbers of at least 0"),
        ("Name|MaxJobsPU\na|2.5\n", "qos.txt:2: MaxJobsPU is '2.5', expected whole numbers of at least 0"),
    ],
)
def test_a_wrong_file_of_qos_is_refused_with_one_message(read, qos, message):
    with pytest.raises(SlurmConfError) as error:
        read(NODES + CPU, qos)
    assert message in str(error.value)


def test_a_file_that_is_not_there_is_an_error_of_files(tmp_path):
    with pytest.raises(FileNotFoundError):
        sl.read_slurm_conf(tmp_path / "slurm.conf")


def test_a_read_machine_tells_where_jobs_run(read):
    conf = read(f"{NODES}PartitionName=p Nodes=n[1-3]\nPartitionName=q Nodes=n4\nPartitionName=d Nodes=n[1-3]\n")
    jobs = sl.testing.trace_of([(0, 6, 9, 5), (1, 4, 4, 6), (1, 4, 4, 6)], machine=32).jobs.assign(partition=[*"dqp"])
    assert conf.machine.places(jobs, {}).tolist() == [0, 1, 0]
