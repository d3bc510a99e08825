"""Common lines of healthy runs, as verl, vLLM, Ray, uvicorn, prime-rl, Podman and Slurm write them.

The engine searches for texts that these lines do not hold: see `rare_texts`. A wrong line here costs time and changes no
result.
"""

LINES = r"""
(TaskRunner pid=81234) step:39 - global_seqlen/min:2310 - global_seqlen/max:9120 - global_seqlen/minmax_diff:6810 - actor/entropy:0.312 - actor/pg_loss:0.021 - actor/pg_clipfrac:0.001 - actor/ppo_kl:0.0004 - actor/grad_norm:0.412 - actor/lr:1e-06 - perf/mfu/actor:0.21 - perf/max_memory_allocated_gb:14.1 - perf/max_memory_reserved_gb:16.4 - perf/cpu_memory_used_gb:91.3 - critic/score/mean:0.31 - critic/rewards/mean:0.31 - critic/advantages/mean:-0.02 - critic/returns/max:1.9 - response_length/mean:812.5 - response_length/clip_ratio:0.03 - prompt_length/mean:310.2 - timing_s/start_profile:0.001 - timing_s/generate_sequences:61.2 - timing_s/gen:62.1 - timing_s/reward:0.3 - timing_s/old_log_prob:4.1 - timing_s/adv:0.1 - timing_s/update_actor:12.3 - timing_s/update_weights:2.2 - timing_s/step:84.2 - timing_per_token_ms/gen:0.14 - perf/total_num_tokens:91022 - perf/time_per_step:84.2 - perf/throughput:1081.2 - training/global_step:39 - training/epoch:0 - rollout_metrics/finish_tool_ratio:0.71 - num_turns/mean:14.2 - error_runtime:0 - error_evaluation:0
(EngineCore_DP0 pid=4411) INFO 03-02 09:14:30 [loggers.py:116] Engine 000: Avg prompt throughput: 812.4 tokens/s, Avg generation throughput: 411.0 tokens/s, Running: 31 reqs, Waiting: 0 reqs, GPU KV cache usage: 41.2%, Prefix cache hit rate: 71.0%
INFO:     10.4.0.17:51234 - "POST /v1/chat/completions HTTP/1.1" 200 OK
(APIServer pid=4402) INFO:     127.0.0.1:51236 - "GET /health HTTP/1.1" 200 OK
INFO:     10.4.0.17:40112 - "GET /sessions/slurm-1f2e3d4c5b6a HTTP/1.1" 404 Not Found
INFO:     10.4.0.17:40113 - "POST /start HTTP/1.1" 200 OK
INFO:     Started server process [4402]
INFO:     Waiting for application startup. Application startup complete.
INFO 03-02 09:14:22 [async_llm.py:261] Added request cmpl-9f8e7d6c5b4a39281706f5e4d3c2b1a0-0.
INFO 03-02 09:14:23 [logger.py:39] Received request chatcmpl-1: prompt: 'x', params: SamplingParams(n=1, temperature=1.0, top_p=1.0, top_k=-1, stop=[], max_tokens=4096, logprobs=0), prompt_token_ids: None, lora_request: None.
INFO 03-02 09:13:02 [gpu_model_runner.py:1595] Starting to load model Qwen/Qwen2.5-7B-Instruct... Model loading took 14.27 GiB and 5.1 seconds
INFO 03-02 09:13:40 [worker.py:180] Memory profiling takes 4.1 seconds. the current vLLM instance can use total_gpu_memory, gpu_memory_utilization, Maximum concurrency for 32768 tokens per request: 8.20x
Capturing CUDA graph shapes: 100%|##########| 67/67 [00:21<00:00,  3.14it/s] Graph capturing finished in 21 secs, took 0.5 GiB
Loading safetensors checkpoint shards:  25% Completed | 1/4 [00:00<00:02,  1.42it/s]
Loading checkpoint shards: 100%|##########| 4/4 [00:02<00:00,  1.9it/s]
Training Progress:  11%|#         | 44/400 [1:02:51<9:40:11, 98.3s/it]
Rollouts:  62%|######    | 5/8 [02:11<01:03, 21.2s/it]
(AgentLoopWorker pid=9021) 2026-03-02 09:14:03,120 - DEBUG - session 1f2e3d4c5b6a: exit_code=0, 0.2 s
(AgentLoopWorker pid=9021) INFO rollout 17 turn 3: trajectory finished after 14 turns, 3 tool calls, reward 1.0, response 812 tokens
2026-03-02 09:14:03,120 INFO worker.py:1942 -- Started a local Ray instance. View the dashboard at 127.0.0.1:8265
(raylet) [2026-03-02 09:14:03,500 I 812 812] (raylet) node_manager.cc:522: worker alive 1f2e3d4c5b6a, object store memory, resources, task, actor, lease, node
(raylet) Spilled 2390 MiB, 3 objects, write throughput 1200 MiB/s. Set RAY_verbose_spill_logs=0 to disable this message.
(WorkerDict pid=81555, ip=10.4.0.17) Total steps: 400, num_warmup_steps: 0, wrap_policy, MixedPrecision, FSDP, ref, optimizer, WARNING, UserWarning: warnings.warn( [repeated 7x across cluster]
(WorkerDict pid=2) gpu07:81234:81234 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read, Connected all rings, comm 0x55d0 rank 0 nranks 2
(TaskRunner pid=1) {'actor_rollout_ref': {'actor': {'strategy': 'fsdp2', 'ppo_mini_batch_size': 8, 'ppo_micro_batch_size_per_gpu': 1}, 'rollout': {'name': 'vllm', 'tensor_model_parallel_size': 1}}, 'trainer': {'default_local_dir': 'checkpoints', 'total_epochs': 10}}
(TaskRunner pid=1) local_global_step_folder: checkpoints/run/global_step_20, Saving model to, Saved model config and tokenizer, Checkpoint tracker file, latest_checkpointed_iteration.txt
12:49:17    INFO Starting RL run
12:49:17 SUCCESS Step 11 | Time: 61.21s | Loss: 0.0312 | Entropy: 0.1841 | Mismatch KL: 0.0004 | Grad. Norm: 0.0798 | LR: 1.00e-06 | Throughput: 9120 tokens/s | MFU: 21.2% | Peak Mem.: 41.2 GiB
12:49:18    INFO Generating rollouts (train): orchestrator, environment, sampling, Reward: 0.4100 | Seq. Length: 812.5 tokens/sample | Async Level: 1
{"time": "2026-03-02T09:14:03Z", "level": "info", "role": "assistant", "content": "I will run the tests and look at the code in the file", "path": "/testbed/src", "message": "request finished", "id": 7}
EXECUTION RESULT of [execute_bash]: test session starts, collected 14 items, tests/test_a.py ....... [100%], 14 passed in 0.41s
2026-03-02 09:00:01 INFO skyrl_runtime: 7 worker slots, 28 CPUs; sandbox 1f2e3d4c5b6a started in 1.8 s, container ready, command ended with 0, removed
time="2026-03-02T09:00:03Z" level=info msg="Copying blob sha256:0bc9dd4b2b3e, Writing manifest to image destination, Storing signatures"
slurmd: launching job 4711 on gpu07, srun: step creation, slurmstepd: task 0 started, completed
Collecting torch==2.8.0, Downloading, Installing collected packages, Successfully installed, Requirement already satisfied
"""
