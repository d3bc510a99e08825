"""The ten checks of the benchmark, for pytest-testinfra."""


def test_root_is_not_full(host):
    assert 100 * (1 - int(host.check_output("stat -f -c %a /")) / int(host.check_output("stat -f -c %b /"))) <= 99


def test_root_is_mounted(host):
    assert host.mount_point("/").exists


def test_proc_is_mounted(host):
    assert host.mount_point("/proc").exists


def test_tmp(host):
    assert host.file("/tmp").is_directory


def test_var_tmp(host):
    assert host.file("/var/tmp").is_directory


def test_shm(host):
    assert host.file("/dev/shm").is_directory


def test_passwd(host):
    assert host.file("/etc/passwd").is_file


def test_group(host):
    assert host.file("/etc/group").is_file


def test_hosts(host):
    assert host.file("/etc/hosts").is_file


def test_env(host):
    assert host.file("/usr/bin/env").is_file
