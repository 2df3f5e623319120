extension TillProcess {
    /// Makes an API key.
    ///
    /// - Parameter scopes: The scopes of the key; none for the default.
    /// - Returns: The key.
    func makeKey(_ scopes: String...) async throws -> String {
        let made = try await run(
            arguments: ["keys", "make", "tests", "--json"] + scopes.flatMap { ["--scope", $0] })
        return try made.decoded(MadeKey.self).key
    }
}
