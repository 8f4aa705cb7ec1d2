/** Bundles the program of worker threads into the folder, as `worker.js`. */
export function bundleWorker(folder: string): Promise<void>
