"""Stands for a trainer in the tutorial: it logs three steps as verl does, then fails as a real update failed."""

import time

FAILURE = """\
Traceback (most recent call last):
  File "verl/workers/actor/dp_actor.py", line 402, in update_policy
    loss.backward()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB. GPU 0 has a total capacity of 19.50 GiB of which 1.12 GiB is free."""

for step in range(1, 4):
    print(f"step:{step} - critic/rewards/mean:{0.2 * step:.2f} - timing_s/step:0.5", flush=True)
    time.sleep(0.5)
for line in FAILURE.splitlines():
    print(f"(WorkerDict pid=4711) {line}", flush=True)
raise SystemExit(1)
