import Features

/// The address that App Store Connect needs for notifications, and the last one that arrived.
struct NotificationAddress: Sendable {
    /// The host and port by which the browser reaches the service.
    let authority: String
    let last: ReceivedNotification?
    let hasLocalStore: Bool

    var html: HTML {
        section(.class("card")) {
            h2 { Phrase("Address for App Store Connect", "App Store Connect에 입력할 주소") }
            pre(.id("notification-address")) { plain("https://\(authority)/v1/notifications/apple") }
            p(.class("actions")) {
                Shown.copyButton(for: "notification-address")
            }
            p(.class("note")) {
                Phrase(
                    "App Store Connect: App Information, App Store Server Notifications, version 2, for production and "
                        + "sandbox. Apple must reach this address over the internet with a valid certificate.",
                    "App Store Connect의 앱 정보 › App Store 서버 알림에서 버전 2로 프로덕션과 샌드박스에 입력하세요. Apple이 인터넷에서 유효한 인증서로 이 주소에 접속할 수 있어야 합니다."
                )
            }
            if hasLocalStore {
                p(.class("note")) {
                    Phrase(
                        "The local App Store sends its notifications here by itself.",
                        "로컬 App Store는 알림을 자동으로 여기로 보냅니다.")
                }
            }
            p {
                if let last {
                    Phrase("Last received", "마지막 수신")
                    plain(": ")
                    Shown.moment(last.notification.receivedAt)
                    plain(" · ")
                    Shown.identifier(last.notification.origin.rawValue)
                } else {
                    Shown.badge(Phrase("No notification was ever received", "받은 알림이 없습니다"), .warning)
                }
            }
        }
    }
}
