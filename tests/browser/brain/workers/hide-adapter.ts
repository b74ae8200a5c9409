/** Evaluated before the engine. */
GPU.prototype.requestAdapter = async () => null;
