/** The WebLLM worker, on a GPU device that is lost when the test says so. */
import './lose-device.ts';
import '../../../../src/brain/local/engines/webllm.worker.ts';
