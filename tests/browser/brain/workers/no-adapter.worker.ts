/** The WebLLM worker, in a browser whose WebGPU finds no adapter. */
import './hide-adapter.ts';
import '../../../../src/brain/local/engines/webllm.worker.ts';
