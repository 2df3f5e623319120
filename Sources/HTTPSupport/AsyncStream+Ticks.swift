extension AsyncStream<Void> {
    /// An element after each pause, until whoever reads is cancelled.
    package static func ticks(every pause: Duration) -> AsyncStream<Void> {
        AsyncStream { (try? await Task.sleep(for: pause)).map { _ in } }
    }
}
