/** The WebLLM worker, on a GPU whose driver calculates nonsense. */
import './broken-driver.ts';
import '../../../../src/brain/local/engines/webllm.worker.ts';
