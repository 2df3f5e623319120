import Foundation
import HTTPSupport
import Ledger
import Proofs

extension HealthRoutes {
    /// The periods of the tables of times, in minutes.
    private static let periods = [1, 5, 15]
    /// The time before the expiry of a key in which it is marked, in milliseconds.
    private static let keyWarningTime: Int64 = 14 * 86_400_000

    /// The ledger, its server, and the times and queues of the running service.
    @HTMLBuilder func performance(_ state: LedgerState) -> HTML {
        let (ledger, metrics) = (services.ledger, services.metrics)
        Facts.card("Ledger") {
            fact("Place") { Shown.identifier(services.health.ledgerPlace) }
            fact("Database") { plain(state.database) }
            fact("Version of the tables") { plain(String(state.version)) }
            fact("Size") { plain(Self.size(state.size)) }
            if let users = state.users { fact("Users, about") { Shown.number(users) } }
            if let server = ledger.serverReachability {
                let time = Self.text(server.time)
                fact("Server") {
                    server.isReachable
                        ? Shown.badge("reachable for \(time)", .good) : Shown.badge("unreachable for \(time)", .bad)
                }
                fact("Last absence of the server") {
                    server.lastAbsence.map { plain(Self.text($0)) } ?? HTML { "none since the start" }
                }
            }
        }
        Facts.card("Performance") {
            fact("Use cases that wait for a commit or a thread") { plain(String(ledger.waitingCount)) }
            fact("Other jobs that wait for a thread") { plain(String(BlockingWork.waitingCount)) }
            fact("Requests in progress, this one included") { plain(String(metrics.requestsInFlightCount)) }
        }
        Self.times("Commit times", metrics.recentCommits)
        Self.times("Request times", metrics.recentRequests)
    }

    @HTMLBuilder private static func times(_ title: Phrase, _ durations: RecentDurations) -> HTML {
        let times = periods.map { (minutes: $0, summary: durations.summary(ofMinutes: $0)) }
        h3 { title }
        Listing.table(title, of: times, empty: "Nothing was measured.") {
            column("Period") { "last \($0.minutes) min" }
            column(Phrase("Number", context: "count")) { Shown.number($0.summary.count) }
            column("Median (p50)") { shown($0.summary.median) }
            column("p99") { shown($0.summary.percentile99) }
            column("Longest") { shown($0.summary.maximum) }
        }
    }

    private static func shown(_ duration: Duration?) -> HTML? { duration.map { plain(text($0)) } }

    /// A duration with two or three digits: "1.2 ms".
    private static func text(_ duration: Duration) -> String {
        let seconds = duration / .seconds(1)
        let (value, unit) =
            switch seconds {
            case ..<0.001: (seconds * 1_000_000, "µs")
            case ..<1: (seconds * 1000, "ms")
            case ..<120: (seconds, "s")
            case ..<7200: (seconds / 60, "min")
            default: (seconds / 3600, "h")
            }
        return String(format: value < 10 ? "%.1f" : "%.0f", value) + " " + unit
    }

    /// A number of bytes in binary units: "1.4 MiB".
    private static func size(_ bytes: Int64) -> String {
        var (value, units) = (Double(bytes), ["B", "KiB", "MiB", "GiB", "TiB"][...])
        while value >= 1024, units.count > 1 {
            value /= 1024
            units = units.dropFirst()
        }
        return String(format: value < 10 && units.first != "B" ? "%.1f" : "%.0f", value) + " " + (units.first ?? "")
    }

    /// The API keys, without their secrets.
    @HTMLBuilder static func apiKeys(_ keys: [APIKeyRecord], at now: Timestamp) -> HTML {
        h2 { "API keys" }
        Listing.table("API keys", of: keys, empty: "There is no API key: till keys make NAME.") {
            column("Name") { data($0.name) }
            column("Person") { $0.person.map { data($0) } }
            column("Beginning") { Shown.identifier("till_" + $0.identifier) }
            column("Scopes") { data($0.scopes.joined(separator: ", ")) }
            column("App") { key in
                if let app = key.app { data(app) } else { "all apps" }
            }
            column("Made") { Shown.day($0.createdAt) }
            column("Expires") { Shown.moment($0.expiresAt) }
            column("Last used") { Shown.moment($0.lastUsedAt) }
            column("State") { state($0, at: now) }
        }
        note("The last use is at most about an hour old. Keys are made and revoked with till keys.")
    }

    private static func state(_ key: APIKeyRecord, at now: Timestamp) -> HTML {
        if let revokedAt = key.revokedAt {
            return spaced(Shown.badge(Phrase("revoked", context: "key"), .neutral), Shown.day(revokedAt))
        }
        guard let expiresAt = key.expiresAt else { return Shown.badge("valid", .good) }
        if now >= expiresAt { return Shown.badge("expired", .bad) }
        let rest = expiresAt.millisecondsSince1970 - now.millisecondsSince1970
        return rest < keyWarningTime ? Shown.badge("expires soon", .warning) : Shown.badge("valid", .good)
    }
}
