import Testing

/// Expects something to come true before a minute is over: for what another task or process does in its own time.
public func expectEventually(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
) async rethrows {
    let deadline = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < deadline {
        if try await condition() { return }
        await Task.yield()
    }
    Issue.record("It has not come true in a minute.", sourceLocation: sourceLocation)
}
