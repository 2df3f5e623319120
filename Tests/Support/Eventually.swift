import Testing

/// Expects something to come true before five minutes are over: for what another task or process does in its own time, which
/// is long where all tests share two processors.
public func expectEventually(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
) async rethrows {
    let deadline = ContinuousClock.now + .seconds(300)
    while ContinuousClock.now < deadline {
        if try await condition() { return }
        // Spinning would take a processor from what is waited for.
        try? await Task.sleep(for: .milliseconds(5))
    }
    Issue.record("It has not come true in five minutes.", sourceLocation: sourceLocation)
}
