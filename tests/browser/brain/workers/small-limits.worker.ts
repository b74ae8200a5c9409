/** The WebLLM worker, on a GPU with the limits of a phone. */
import './small-limits.ts';
import '../../../../src/brain/local/engines/webllm.worker.ts';
