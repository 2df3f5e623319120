import NIOPosix

/// Threads for work that waits for the disk or takes long, so that those that serve connections never do.
struct BlockingWork: Sendable {
    func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await NIOThreadPool.singleton.runIfActive(work)
    }
}
