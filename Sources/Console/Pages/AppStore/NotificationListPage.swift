import Features
import HTTPSupport
import Proofs

/// The list of the received notifications of all apps.
struct NotificationListPage {
    let apps: [String]
    let filter: ReceivedNotificationFilter
    let shown: [ReceivedNotification]
    /// The position of the next page; nil for the last page.
    let next: ReceivedNotification.Position?
    let address: NotificationAddress

    var page: Page {
        Page(Phrase("App Store", "App Store"), section: .appStore) {
            AppStoreTab.links(present: .notifications)
            address.html
            section {
                h2 { Phrase("Received notifications", "받은 알림") }
                filterForm
                table
                // A page without rows may have a next one, so the table does not show the link.
                Listing.pager(next.map(path))
                p(.class("note")) {
                    Phrase(
                        "Late: received an hour or more after its signature, so the first attempt of the App Store "
                            + "failed, or a reconciliation fetched it. Repeated: received more than once, by a "
                            + "repetition of the App Store or by a reconciliation.",
                        "늦음: 서명 후 한 시간 이상 지나 받은 알림입니다. App Store의 첫 시도가 실패했거나 대조로 가져왔습니다. "
                            + "중복: App Store의 재전송이나 대조로 두 번 이상 받은 알림입니다.")
                }
            }
        }
    }

    private var hasSeveralApps: Bool { apps.count > 1 }

    private var filterForm: HTML {
        div(.class("actions")) {
            form(.method("get"), .action(AppStoreTab.notifications.path)) {
                Field.choice(
                    "type", Phrase("Type", "종류"), empty: Phrase("All", "전체"),
                    NotificationTypeV2.allCases.map(\.rawValue).sorted().map { ($0, Phrase(same: $0)) },
                    chosen: filter.type)
                Field.choice(
                    "outcome", Phrase("Outcome", "결과"), empty: Phrase("All", "전체"),
                    Self.outcomes.map { ($0.rawValue, $0.title) }, chosen: filter.outcome?.rawValue)
                if hasSeveralApps {
                    Field.choice(
                        "app", Phrase("App", "앱"), empty: Phrase("All", "전체"),
                        apps.map { ($0, Phrase(same: $0)) }, chosen: filter.app)
                }
                button { Phrase("Show", "보기") }
            }
        }
    }

    /// The outcomes that a stored notification can have.
    private static let outcomes: [NotificationOutcome] = [.granted, .revoked, .recorded, .parked]

    private var table: HTML {
        Listing.table(
            Phrase("Received notifications, newest first", "받은 알림, 최신순"), of: shown,
            empty: next == nil
                ? Phrase("No notification matches.", "해당하는 알림이 없습니다.")
                : Phrase("None among the last ones. Search further.", "최근 알림에는 없습니다. 더 찾아 보세요.")
        ) {
            column(Phrase("Received", "수신")) {
                Shown.moment($0.notification.receivedAt)
                plain(" ")
                NotificationWords.marks($0)
            }
            column(Phrase("Type", "종류")) { received in
                a(.href(.notification(received.notification))) { data(received.notification.type) }
                if let subtype = received.notification.subtype {
                    br()
                    small { data(subtype) }
                }
            }
            column(Phrase("Signed", "서명")) { Shown.moment($0.notification.signedAt) }
            column(Phrase("Outcome", "결과")) { $0.notification.outcome.html }
            column(Phrase("Transaction", "거래")) { received in
                let transaction = received.notification.transactionIdentifier
                Shown.identifier(transaction)
                if let original = received.notification.originalTransactionIdentifier, original != transaction {
                    br()
                    small {
                        Phrase("Original", "원 거래")
                        plain(" ")
                        Shown.identifier(original)
                    }
                }
            }
            column(Phrase("Customer", "고객")) { $0.customerLink }
            if hasSeveralApps { column(Phrase("App", "앱")) { Shown.identifier($0.app) } }
        }
    }

    private func path(after position: ReceivedNotification.Position) -> ConsolePath {
        ConsolePath(
            "app-store",
            query: [
                "type": filter.type, "outcome": filter.outcome?.rawValue, "app": filter.app,
                "cursor": HTTPSupport.Page.cursor(after: position.description),
            ])
    }
}

extension ConsolePath {
    /// The page of a received notification.
    static func notification(_ notification: StatedNotification) -> ConsolePath {
        ConsolePath(
            "app-store", "notification",
            query: ["uuid": notification.notificationUUID, "origin": notification.origin.rawValue])
    }
}

extension ReceivedNotification {
    /// A link to the owner of the purchase.
    var customerLink: HTML { owner.map { Shown.link(to: $0) } ?? Shown.nothing }
}

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

/// The App Store's notifications in plain words.
enum NotificationWords {
    /// The marks of a notification that came late or more than once.
    static func marks(_ received: ReceivedNotification) -> HTML {
        HTML {
            if received.isLate { Shown.badge(Phrase("Late", "늦음"), .warning) }
            if received.repeatedAt != nil {
                plain(" ")
                Shown.badge(Phrase("Repeated", "중복"))
            }
        }
    }

    /// The event that a type reports; nil for a type that this version does not know.
    static func meaning(ofType type: String) -> Phrase? {
        NotificationTypeV2(rawValue: type).map(meaning)
    }

    private static func meaning(_ type: NotificationTypeV2) -> Phrase {
        switch type {
        case .subscribed: Phrase("A customer subscribed, or came back.", "고객이 구독했거나 다시 구독했습니다.")
        case .didChangeRenewalPref:
            Phrase("A customer chose another plan for the renewal.", "고객이 갱신할 요금제를 바꿨습니다.")
        case .didChangeRenewalStatus:
            Phrase("A customer turned renewal on or off.", "고객이 자동 갱신을 켜거나 껐습니다.")
        case .offerRedeemed: Phrase("A customer redeemed an offer.", "고객이 할인 혜택을 사용했습니다.")
        case .didRenew: Phrase("A subscription renewed.", "구독이 갱신되었습니다.")
        case .expired: Phrase("A subscription expired.", "구독이 만료되었습니다.")
        case .didFailToRenew: Phrase("A renewal could not be charged.", "갱신 결제에 실패했습니다.")
        case .gracePeriodExpired: Phrase("A grace period ended without a payment.", "결제 없이 유예 기간이 끝났습니다.")
        case .priceIncrease: Phrase("A customer was asked about a higher price.", "고객에게 가격 인상을 알렸습니다.")
        case .refund: Phrase("The App Store refunded a purchase.", "App Store가 구매를 환불했습니다.")
        case .refundDeclined: Phrase("The App Store declined a refund.", "App Store가 환불을 거절했습니다.")
        case .consumptionRequest:
            Phrase(
                "The App Store asks about a purchase before it decides on a refund.",
                "App Store가 환불을 결정하기 전에 구매에 대해 묻습니다.")
        case .renewalExtended: Phrase("The renewal date was extended.", "갱신일이 연장되었습니다.")
        case .revoke: Phrase("A family no longer shares the purchase.", "가족 공유가 끝났습니다.")
        case .test: Phrase("A test that you requested.", "요청한 테스트입니다.")
        case .renewalExtension: Phrase("An extension of many renewal dates was processed.", "여러 갱신일의 연장을 처리했습니다.")
        case .refundReversed: Phrase("The App Store reversed a refund.", "App Store가 환불을 취소했습니다.")
        case .externalPurchaseToken: Phrase("A token for external purchases was created.", "외부 구매 토큰이 만들어졌습니다.")
        case .oneTimeCharge: Phrase("A customer bought a product once.", "고객이 일회성 상품을 구매했습니다.")
        case .rescindConsent: Phrase("A parent withdrew the consent.", "보호자가 동의를 철회했습니다.")
        case .metadataUpdate: Phrase("The metadata of a subscription changed.", "구독의 메타데이터가 바뀌었습니다.")
        case .migration: Phrase("A subscription was migrated.", "구독이 이전되었습니다.")
        case .priceChange: Phrase("The price of a subscription changed.", "구독 가격이 바뀌었습니다.")
        case .unclaimSeats: Phrase("Seats of a subscription were unclaimed.", "구독 좌석의 배정이 해제되었습니다.")
        }
    }
}
