import Commerce

/// An issuer's keys, loaded at first need, again every hour, and when a token names one that is unknown.
///
/// Issuers replace their keys and go away for a while: the last keys seen stay good for a day. Whatever tokens arrive, keys
/// are not asked for more than once a minute.
actor TokenKeys {
    private static let freshFor: Int64 = 3_600_000
    private static let goodFor: Int64 = 86_400_000
    private static let pause: Int64 = 60_000

    private let source: TokenKeySource
    private let allowed: Set<TokenAlgorithm>
    private let clock: any WallClock

    private var current: (set: TokenKeySet, loadedAt: Timestamp)?
    private var triedAt: Timestamp?
    /// The loading under way, which everybody who needs it waits for.
    private var loading: Task<Result<TokenKeySet, TokenKeysError>, Never>?

    init(source: TokenKeySource, allowing allowed: Set<TokenAlgorithm>, clock: any WallClock) {
        self.source = source
        self.allowed = allowed
        self.clock = clock
    }

    /// The key of an identifier; nil when the issuer has none.
    ///
    /// - Throws: `TokenKeysError` when the issuer's keys are not to be had, not even those of the last day.
    func key(_ identifier: String) async throws(TokenKeysError) -> TokenKey? {
        if let current, age(of: current.loadedAt) < Self.freshFor, let key = current.set[identifier] { return key }
        if loading != nil || triedAt.map({ age(of: $0) >= Self.pause }) ?? true {
            do {
                return try await load()[identifier]
            } catch {
                guard let current, age(of: current.loadedAt) < Self.goodFor else { throw error }
                return current.set[identifier]
            }
        }
        guard let current, age(of: current.loadedAt) < Self.goodFor else { throw .unreachable }
        return current.set[identifier]
    }

    @discardableResult
    func load() async throws(TokenKeysError) -> TokenKeySet {
        let task =
            loading
            ?? Task { [source, allowed] in
                do throws(TokenKeysError) {
                    return .success(try await TokenKeySet(try await source.load(), allowing: allowed))
                } catch {
                    return .failure(error)
                }
            }
        loading = task
        triedAt = clock.now()
        let result = await task.value
        if loading == task { loading = nil }
        let set = try result.get()
        current = (set, clock.now())
        return set
    }

    /// In milliseconds; a clock that was set back makes nothing younger than it is.
    private func age(of moment: Timestamp) -> Int64 {
        abs(clock.now().millisecondsSince1970 - moment.millisecondsSince1970)
    }
}
