/** The wllama worker, in a browser without JSPI. */
import './hide-jspi.ts';
import '../../../../src/brain/local/engines/wllama.worker.ts';
