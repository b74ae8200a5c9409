/** Evaluated before the engine: a driver that takes all work and does none of it. */
GPUComputePassEncoder.prototype.dispatchWorkgroups = () => undefined;
