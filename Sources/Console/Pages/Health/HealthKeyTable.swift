import Ledger
import Proofs

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
