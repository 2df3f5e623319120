import Commerce
import Ledger

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
                Phrase("API keys", "API 키"),
                columns: [
                    Phrase("Name", "이름"), Phrase("Beginning", "앞부분"), Phrase("Scopes", "범위"), Phrase("App", "앱"),
                    Phrase("Made", "생성"), Phrase("Expires", "만료"), Phrase("Last used", "마지막 사용"),
                    Phrase("State", "상태"),
                ],
                rows: keys.map { key in
                    [
                        data(key.name), Shown.identifier("till_" + key.identifier),
                        data(key.scopes.joined(separator: ", ")),
                        key.app.map { data($0) } ?? HTML { Phrase("all apps", "모든 앱") },
                        Shown.day(key.createdAt), Shown.moment(key.expiresAt), Shown.moment(key.lastUsedAt), state(key),
                    ]
                },
                empty: Phrase("There is no API key: till keys make NAME.", "API 키가 없습니다: till keys make NAME."))
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
