"""The fixtures of the lane of faults: those of the e2e lane, and of the podman lane an ordinary user with a store."""

from lanes.e2e.conftest import images, podman_env, session_cluster, whole
from lanes.podman.conftest import image_archive, lab, lane_user, new_lab, stocked, tools, workshop
from lanes.podman.test_places import private

__all__ = [
    "image_archive",
    "images",
    "lab",
    "lane_user",
    "new_lab",
    "podman_env",
    "private",
    "session_cluster",
    "stocked",
    "tools",
    "whole",
    "workshop",
]
