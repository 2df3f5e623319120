import Foundation
import Ledger
import Proofs

/// The ledger, its server, and the times and queues of the running service.
struct HealthPerformanceTable {
    let performance: HealthPerformance
    let ledger: HealthLedger

    var html: HTML {
        HTML {
            h2 { Phrase("Ledger", "원장") }
            section(.class("card")) { Facts.list(facts) }
            h2 { Phrase("Performance", "성능") }
            section(.class("card")) {
                Facts.list([
                    (
                        Phrase("Use cases that wait for a commit or a thread", "커밋이나 스레드를 기다리는 작업"),
                        plain(String(performance.waitingUseCases))
                    ),
                    (
                        Phrase("Other jobs that wait for a thread", "스레드를 기다리는 그 밖의 작업"),
                        plain(String(performance.waitingJobs))
                    ),
                    (
                        Phrase("Requests in progress, this one included", "처리 중인 요청 (이 요청 포함)"),
                        plain(String(performance.requestsInFlight))
                    ),
                ])
            }
            times(Phrase("Commit times", "커밋 시간"), performance.commits)
            times(Phrase("Request times", "요청 시간"), performance.requests)
        }
    }

    private var facts: [(name: Phrase, value: HTML)] {
        let state = ledger.state
        var facts: [(name: Phrase, value: HTML)] = [
            (Phrase("Place", "위치"), Shown.identifier(ledger.place)),
            (Phrase("Database", "데이터베이스"), plain(state.database)),
            (Phrase("Version of the tables", "테이블 버전"), plain(String(state.version))),
            (Phrase("Size", "크기"), plain(Self.size(state.size))),
        ]
        if let users = state.users { facts.append((Phrase("Users, about", "사용자 수 (대략)"), Shown.number(users))) }
        if let server = ledger.server {
            let time = Self.text(server.time)
            facts.append(
                (
                    Phrase("Server", "서버"),
                    server.isReachable
                        ? Shown.badge(Phrase("reachable for \(time)", "\(time) 동안 연결됨"), .good)
                        : Shown.badge(Phrase("unreachable for \(time)", "\(time) 동안 연결 안 됨"), .bad)
                ))
            facts.append(
                (
                    Phrase("Last absence of the server", "서버의 마지막 중단"),
                    server.lastAbsence.map { plain(Self.text($0)) }
                        ?? HTML { Phrase("none since the start", "시작한 뒤로 없음") }
                ))
        }
        return facts
    }

    private func times(_ title: Phrase, _ times: [HealthPerformance.Times]) -> HTML {
        HTML {
            h3 { title }
            Listing.table(title, of: times, empty: Phrase("Nothing was measured.", "측정한 것이 없습니다.")) {
                column(Phrase("Period", "기간")) { Phrase("last \($0.minutes) min", "최근 \($0.minutes)분") }
                column(Phrase("Number", "개수")) { Shown.number(Int64($0.summary.count)) }
                column(Phrase("Median (p50)", "중앙값 (p50)")) { Self.shown($0.summary.median) }
                column(Phrase("p99", "p99")) { Self.shown($0.summary.percentile99) }
                column(Phrase("Longest", "최대")) { Self.shown($0.summary.maximum) }
            }
        }
    }

    private static func shown(_ duration: Duration?) -> HTML {
        duration.map { plain(text($0)) } ?? Shown.nothing
    }

    /// A duration with two or three digits: "1.2 ms".
    static func text(_ duration: Duration) -> String {
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
    static func size(_ bytes: Int64) -> String {
        var (value, units) = (Double(bytes), ["B", "KiB", "MiB", "GiB", "TiB"][...])
        while value >= 1024, units.count > 1 {
            value /= 1024
            units = units.dropFirst()
        }
        return String(format: value < 10 && units.first != "B" ? "%.1f" : "%.0f", value) + " " + (units.first ?? "")
    }
}

/// The API keys, without their secrets.
struct HealthKeyTable {
    /// The time before the expiry of a key in which it is marked, in milliseconds.
    private static let warningTime: Int64 = 14 * 86_400_000

    let keys: [APIKeyRecord]
    let now: Timestamp

    var html: HTML {
        HTML {
            h2 { Phrase("API keys", "API 키") }
            Listing.table(
                Phrase("API keys", "API 키"), of: keys,
                empty: Phrase("There is no API key: till keys make NAME.", "API 키가 없습니다: till keys make NAME.")
            ) {
                column(Phrase("Name", "이름")) { data($0.name) }
                column(Phrase("Beginning", "앞부분")) { Shown.identifier("till_" + $0.identifier) }
                column(Phrase("Scopes", "범위")) { data($0.scopes.joined(separator: ", ")) }
                column(Phrase("App", "앱")) { key in
                    if let app = key.app { data(app) } else { Phrase("all apps", "모든 앱") }
                }
                column(Phrase("Made", "생성")) { Shown.day($0.createdAt) }
                column(Phrase("Expires", "만료")) { Shown.moment($0.expiresAt) }
                column(Phrase("Last used", "마지막 사용")) { Shown.moment($0.lastUsedAt) }
                column(Phrase("State", "상태")) { state($0) }
            }
            p(.class("note")) {
                Phrase(
                    "The last use is at most about an hour old. Keys are made and revoked with till keys.",
                    "마지막 사용은 최대 한 시간쯤 늦게 표시됩니다. 키는 till keys로 만들고 취소합니다.")
            }
        }
    }

    private func state(_ key: APIKeyRecord) -> HTML {
        if let revokedAt = key.revokedAt {
            return HTML {
                Shown.badge(Phrase("revoked", "취소됨"), .neutral)
                plain(" ")
                Shown.day(revokedAt)
            }
        }
        guard let expiresAt = key.expiresAt else { return Shown.badge(Phrase("valid", "유효"), .good) }
        if now >= expiresAt { return Shown.badge(Phrase("expired", "만료됨"), .bad) }
        let rest = expiresAt.millisecondsSince1970 - now.millisecondsSince1970
        return rest < Self.warningTime
            ? Shown.badge(Phrase("expires soon", "곧 만료"), .warning) : Shown.badge(Phrase("valid", "유효"), .good)
    }
}
