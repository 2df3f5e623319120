/// The keys of callers.
extension Ledger {
    /// The names of all API keys by their identifiers, those of revoked keys included.
    package func apiKeyNames() async throws -> [String: String] {
        try await read(.statement) { try $0.apiKeyNames() }
    }
}
