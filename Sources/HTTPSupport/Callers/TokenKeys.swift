import Foundation
import Logging
import Proofs
import Synchronization

/// An issuer's keys. They are loaded on first use, after an hour or the time that the issuer's `Cache-Control` states, and for a
/// token with an unknown `kid`.
///
/// Issuers replace their keys and may be unavailable, so the last loaded keys stay valid for a day. The keys are loaded
/// at most once a minute, whatever tokens arrive.
package actor TokenKeys {
    private static let refreshInterval: Int64 = 3_600_000
    private static let maximumAge: Int64 = 86_400_000
    private static let minimumLoadInterval: Int64 = 60_000

    private let source: TokenKeySource
    /// The setting that names the source, and the allowed algorithms, for the log.
    private let (setting, algorithms): (String, String)
    /// The bounds of the stated time, in milliseconds; nil to load the keys every hour.
    private let statedIntervals: ClosedRange<Int64>?
    private let read: @Sendable ([UInt8]) throws(TokenKeysError) -> TokenKeySet
    private let clock: any WallClock
    private let logger: Logger
    private nonisolated let generations = Atomic(0)

    private var current: (set: TokenKeySet, loadedAt: Timestamp)?
    /// The age from which the current keys are loaded again, in milliseconds.
    private var refreshInterval = TokenKeys.refreshInterval
    private var triedAt: Timestamp?
    /// The error of the last load. Nil if it succeeded.
    private var failure: TokenKeysError?
    private var failureLog = FailureLog()
    /// The load in progress. All callers that need it await it.
    private var loading: Task<Result<LoadedKeys, TokenKeysError>, Never>?

    private typealias LoadedKeys = (set: TokenKeySet, maximumAge: Int64?)

    init(_ settings: TokenSettings, clock: any WallClock, logger: Logger) {
        source = settings.keys
        (setting, algorithms) = ("jwt-keys", "jwt-algorithms")
        statedIntervals = nil
        read = { [allowed = settings.algorithms] bytes throws(TokenKeysError) in
            try TokenKeySet(bytes, allowing: allowed)
        }
        self.clock = clock
        self.logger = logger
    }

    /// The keys for RS256 that an issuer of identity tokens publishes, such as Google.
    ///
    /// - Parameters:
    ///   - setting: The setting that names the source, for the log.
    ///   - intervals: The bounds of the time after which the keys are loaded again, in seconds. The issuer's `Cache-Control` states
    ///     the time.
    package init(
        identityKeysFrom source: TokenKeySource, in setting: String, loadedEvery intervals: ClosedRange<Int64>,
        clock: any WallClock, logger: Logger
    ) {
        self.source = source
        (self.setting, algorithms) = (setting, TokenAlgorithm.rs256.rawValue)
        statedIntervals = intervals.lowerBound * 1000...intervals.upperBound * 1000
        read = { bytes throws(TokenKeysError) in try TokenKeySet(identityKeys: bytes) }
        self.clock = clock
        self.logger = logger
    }

    /// The number of loads. A token that was verified with an earlier generation must be verified again.
    nonisolated var generation: Int { generations.load(ordering: .acquiring) }

    /// Returns the key with an identifier, or nil if the issuer has none.
    ///
    /// A known key is returned immediately. If the keys are stale, they are loaded in the background.
    ///
    /// - Throws: `TokenKeysError` if no keys can be loaded and none of the last day are available.
    package func key(_ identifier: String) async throws(TokenKeysError) -> TokenKey? {
        let isDue = loading != nil || triedAt.map { age(of: $0) >= Self.minimumLoadInterval } ?? true
        if let current, age(of: current.loadedAt) < Self.maximumAge, let key = current.set[identifier] {
            if age(of: current.loadedAt) >= refreshInterval, isDue, loading == nil { Task { try? await load() } }
            return key
        }
        if isDue { return try await load()[identifier] }
        if let failure { throw failure }
        guard let current, age(of: current.loadedAt) < Self.maximumAge else { throw .unreachable }
        return current.set[identifier]
    }

    @discardableResult
    func load() async throws(TokenKeysError) -> TokenKeySet {
        let task =
            loading
            ?? Task { [source, read] in
                do throws(TokenKeysError) {
                    let loaded = try await source.load()
                    return .success((try read(loaded.bytes), loaded.maximumAge))
                } catch {
                    return .failure(error)
                }
            }
        loading = task
        triedAt = clock.now()
        let result = await task.value
        let isFirst = loading == task
        if isFirst { loading = nil }
        do {
            let (set, seconds) = try result.get()
            if isFirst {
                current = (set, clock.now())
                refreshInterval = interval(stated: seconds)
                failure = nil
                failureLog.record(nil, in: logger, "cannot load the keys of \(setting)")
                generations.add(1, ordering: .releasing)
            }
            return set
        } catch {
            if isFirst {
                failure = error
                let reason = FailureCause(key: "reason", text: error.message(about: setting, for: algorithms))
                failureLog.record(reason, in: logger, "cannot load the keys of \(setting)")
            }
            throw error
        }
    }

    /// - Parameter seconds: The time in the issuer's `Cache-Control`; nil if it states none.
    private func interval(stated seconds: Int64?) -> Int64 {
        guard let statedIntervals, let seconds else { return Self.refreshInterval }
        let (milliseconds, isOverflow) = seconds.multipliedReportingOverflow(by: 1000)
        return isOverflow
            ? statedIntervals.upperBound
            : min(max(milliseconds, statedIntervals.lowerBound), statedIntervals.upperBound)
    }

    /// The age in milliseconds. The absolute value guards against a clock that was set back.
    private func age(of moment: Timestamp) -> Int64 {
        abs(clock.now().millisecondsSince1970 - moment.millisecondsSince1970)
    }
}

/// The source of an issuer's keys: a file, or an address at which the issuer publishes them.
package enum TokenKeySource: Sendable, Hashable, CustomStringConvertible {
    case file(URL)
    /// An address with HTTPS, or with HTTP on the loopback interface.
    case address(URL)

    /// The timeout of a download, up to the last byte of the response.
    private static let timeout = Duration.seconds(10)
    /// The pause after a failed connection.
    private static let retryInterval = Duration.milliseconds(200)

    /// - Parameter text: A path, or an address with its scheme.
    /// - Returns: Nil if an attacker on the network could answer for the address.
    package init?(_ text: String) {
        guard text.contains("://") else {
            self = .file(URL(filePath: text))
            return
        }
        guard let url = URL(string: text), let host = url.host(), url.user == nil else { return nil }
        let isLoopback = ["127.0.0.1", "::1", "localhost"].contains(host)
        guard url.scheme == "https" || (url.scheme == "http" && isLoopback) else { return nil }
        self = .address(url)
    }

    package var description: String {
        switch self {
        case .file(let url): url.path
        case .address(let url): url.absoluteString
        }
    }

    /// - Returns: The bytes, and the seconds for which the response may be cached; nil if it does not say.
    package func load() async throws(TokenKeysError) -> (bytes: [UInt8], maximumAge: Int64?) {
        switch self {
        case .file(let url):
            guard let bytes = NamedFile.bytes(of: url) else { throw .unreadable(path: url.path) }
            return (bytes, nil)
        case .address(let url):
            do { return try await Deadline.run(within: Self.timeout) { try await Self.fetch(url) } } catch {
                throw .unreachable
            }
        }
    }

    private static func fetch(_ url: URL) async throws -> (bytes: [UInt8], maximumAge: Int64?) {
        let limits = OutgoingLimits(answer: timeout, body: .whole(upTo: TokenKeySet.maximumSize))
        while true {
            do {
                let answer = try await OutgoingClient.shared.send(OutgoingRequest(.get, url.absoluteString), limits)
                guard answer.status == 200 else { throw TokenKeysError.unreachable }
                return (answer.body, maximumAge(answer.headers("Cache-Control")))
            } catch OutgoingFailure.unreachable {
                // A connection may fail at one moment and not at the next.
                try await Task.sleep(for: retryInterval)
            }
        }
    }

    /// The seconds of `max-age`, and 0 for `no-cache` and `no-store` (RFC 9111 section 5.2.2). Nil without them.
    private static func maximumAge(_ lines: [String]) -> Int64? {
        let directives = lines.flatMap { $0.split(separator: ",") }.map {
            $0.trimmingCharacters(in: .whitespaces).lowercased()
        }
        guard !directives.contains("no-cache"), !directives.contains("no-store") else { return 0 }
        let name = "max-age="
        return directives.first { $0.hasPrefix(name) }.flatMap { directive in
            Int64(directive.dropFirst(name.count).filter { $0 != "\"" }).map { max(0, $0) }
        }
    }
}
