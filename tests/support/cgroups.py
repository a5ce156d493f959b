"""A made-up root folder with the files in which Linux says what the control groups of a process are."""

SYSTEM = "30 1 0:28 / /sys/fs/cgroup ro - tmpfs tmpfs rw,mode=755\n"
V1 = "31 30 0:29 {root} /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
V1_CPUSET = "32 30 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
V2 = "33 1 0:31 {root} /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def version_2(folder, group, maxima, root="/"):
    """The group of this process, and the `cpu.max` of some folders."""
    write(folder / "proc/self/cgroup", f"0::{group}\n")
    write(folder / "proc/self/mountinfo", V2.format(root=root))
    for name, text in maxima.items():
        write(folder / "sys/fs/cgroup" / name.lstrip("/") / "cpu.max", text + "\n")
    return str(folder)


def version_1(folder, group, quotas, root="/"):
    """The group of this process, and (quota, period) of some folders."""
    write(folder / "proc/self/cgroup", f"5:cpuset:/else\n4:cpu,cpuacct:{group}\n0::/\n")
    write(folder / "proc/self/mountinfo", SYSTEM + V1.format(root=root) + V1_CPUSET)
    for name, (quota, period) in quotas.items():
        place = folder / "sys/fs/cgroup/cpu,cpuacct" / name.lstrip("/")
        write(place / "cpu.cfs_quota_us", f"{quota}\n")
        write(place / "cpu.cfs_period_us", f"{period}\n")
    return str(folder)
