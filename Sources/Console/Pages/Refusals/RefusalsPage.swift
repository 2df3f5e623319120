import Features
import HTTPSupport
import Hummingbird
import Proofs

/// The page of all refusals by their codes.
struct RefusalsPage {
    let days: Int64
    let groups: [RefusalGroup]
    /// The refusals that the service has counted since its start.
    let uncounted: [ServiceMetrics.Refusals]

    var page: Page {
        Page(Phrase("Refusals", "거절"), section: .refusals) {
            h2 { Phrase("Refused purchases", "거절된 구매") }
            p(.class("note")) {
                Phrase(
                    "Authentic purchases that a user presented and the service refused. Each is recorded once for a user and a "
                        + "transaction.", "사용자가 제시했지만 서비스가 거절한 진짜 구매입니다. 사용자와 거래마다 한 번만 기록합니다.")
            }
            purchases
            for group in groups { latest(group) }
            h2 { Phrase("Refused proofs", "거절된 증명") }
            p(.class("note")) {
                Phrase(
                    "Proofs that failed a check before their app and origin were looked at. They prove nothing about a user, so "
                        + "the service only counts them since its start.",
                    "앱과 출처를 확인하기 전의 검사에서 실패한 증명입니다. 사용자에 대해 아무것도 증명하지 않으므로 서비스가 시작된 뒤의 횟수만 셉니다.")
            }
            proofs
        }
    }

    private var purchases: HTML {
        Listing.table(
            Phrase("Refused purchases by code", "코드별로 거절된 구매"), of: groups,
            empty: Phrase("No purchase was ever refused.", "거절된 구매가 없습니다.")
        ) {
            column(Phrase("Code", "코드")) { group in
                a(.href(ConsolePath("refusals", group.code))) { Shown.identifier(group.code) }
            }
            column(Phrase("Last \(days) days", "최근 \(days)일")) { Self.count($0.count) }
            column(Phrase("Latest", "최근")) { Shown.moment($0.latest.first?.happenedAt) }
            column(Phrase("Cause", "원인")) { Self.text(RefusalExplanation(code: $0.code)?.cause) }
            column(Phrase("Remedy", "해결 방법")) { Self.text(RefusalExplanation(code: $0.code)?.remedy) }
        }
    }

    private static func count(_ count: Int) -> HTML {
        guard count >= RefusalGroup.maximumCount else { return Shown.number(Int64(count)) }
        let digits = Shown.digits(Int64(count))
        return HTML { Phrase("\(digits) or more", "\(digits) 이상") }
    }

    private static func text(_ phrase: Phrase?) -> HTML {
        phrase.map { phrase in HTML { phrase } } ?? Shown.nothing
    }

    private func latest(_ group: RefusalGroup) -> HTML {
        section {
            h3 {
                Phrase("Latest refusals:", "최근 거절:")
                plain(" ")
                Shown.identifier(group.code)
            }
            RefusedPurchasesPage.table(
                Phrase("Latest refusals: \(group.code)", "최근 거절: \(group.code)"), group.latest, next: nil)
            p { a(.href(ConsolePath("refusals", group.code))) { Phrase("All with this code", "이 코드 모두 보기") } }
        }
    }

    private var proofs: HTML {
        // The refusals of an authentic proof are recorded above.
        let refused = uncounted.compactMap { counted in
            ProofRefusal.Reason(rawValue: counted.code).map { (refusals: counted, step: $0.step) }
        }.filter { $0.step != .appAndOrigin }
        return Listing.table(
            Phrase("Refused proofs by code", "코드별로 거절된 증명"), of: refused,
            empty: Phrase("None since the start of the service.", "서비스가 시작된 뒤로 없습니다.")
        ) {
            column(Phrase("Code", "코드")) { Shown.identifier($0.refusals.code) }
            column(Phrase("Check", "검사")) { Self.text(ProofVerdict.Check($0.step)?.title) }
            column(Phrase("Redemptions", "등록")) { Shown.number(Int64($0.refusals.redemptions)) }
            column(Phrase("Notifications", "알림")) { Shown.number(Int64($0.refusals.notifications)) }
            column(Phrase("Cause", "원인")) { Self.text(RefusalExplanation(code: $0.refusals.code)?.cause) }
            column(Phrase("Remedy", "해결 방법")) { Self.text(RefusalExplanation(code: $0.refusals.code)?.remedy) }
        }
    }
}

/// The page of the refused purchases with one code.
struct RefusedPurchasesPage {
    let code: String
    let refusals: [RecordedRefusal]
    let nextCursor: String?

    var page: Page {
        Page(Phrase("Refusals: \(code)", "거절: \(code)"), section: .refusals) {
            if let explanation = RefusalExplanation(code: code) {
                Facts.list([
                    (Phrase("Cause", "원인"), HTML { explanation.cause }),
                    (Phrase("Remedy", "해결 방법"), HTML { explanation.remedy }),
                ])
            }
            h2 { Phrase("Refused purchases", "거절된 구매") }
            Self.table(
                Phrase("Refused purchases, newest first", "거절된 구매, 최신순"), refusals,
                next: nextCursor.map { ConsolePath("refusals", code, query: ["cursor": $0]) })
            p { a(.href(ConsoleSection.refusals.path)) { Phrase("All codes", "모든 코드") } }
        }
    }

    static func table(_ caption: Phrase, _ refusals: [RecordedRefusal], next: ConsolePath?) -> HTML {
        Listing.table(
            caption, of: refusals,
            empty: Phrase("No purchase was refused with this code.", "이 코드로 거절된 구매가 없습니다."), next: next
        ) {
            column(Phrase("Time", "시각")) { Shown.moment($0.happenedAt) }
            column(Phrase("User", "사용자")) { Shown.customer($0.user) }
            column(Phrase("Product", "상품")) { Shown.identifier($0.productIdentifier) }
            column(Phrase("Transaction", "거래")) { refusal in
                a(.href(ConsolePath("customers", query: ["search": refusal.transactionIdentifier]))) {
                    Shown.identifier(refusal.transactionIdentifier)
                }
            }
            column(Phrase("Origin", "출처")) { Shown.identifier($0.origin?.rawValue) }
        }
    }
}

/// The refused purchases of all users.
struct RefusalsRoutes: Sendable {
    private static let days: Int64 = 28
    private static let latest = 5

    let services: ConsoleServices

    func add(to pages: ConsolePages) {
        pages.get("refusals") { _, _ in
            let since = services.entitlements.clock.now().adding(days: -Self.days)
            let groups = try await services.entitlements.ledger.read {
                try $0.refusalGroups(since: since, latest: Self.latest)
            }
            return RefusalsPage(days: Self.days, groups: groups, uncounted: services.metrics.refusals).page
        }
        pages.get("refusals/:code") { request, context in
            let code = try context.parameters.text("code")
            let page = try HTTPSupport.Page(request)
            let position = try page.position { RecordedRefusal.Position($0) }
            let found = try await services.entitlements.ledger.read {
                try $0.refusals(of: code, before: position, limit: page.size + 1)
            }
            let (shown, next) = page.part(of: found) { $0.position.description }
            return RefusedPurchasesPage(code: code, refusals: shown, nextCursor: next).page
        }
    }
}
