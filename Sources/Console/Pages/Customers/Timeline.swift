import Entitlements
import HTTPSupport
import Hummingbird
import Ledger
import Proofs
import Vocabulary

extension CustomerView {
    /// The story of the customer: purchases, renewals, failures, refusals, transfers, refunds and what the team did. The
    /// notifications about an event open below it.
    func timeline(_ request: Request) async throws -> HTML {
        let filter = try TimelineFilter(request)
        let (entries, next) = try await RequestedPage(request).list(at: \.position) {
            try await entitlements.story(of: user, filter.part, before: $0, limit: $1)
        }
        let references = entries.compactMap { entry -> String? in
            switch entry.content {
            case .event(let event, _, _): event.origin == nil ? nil : event.reference
            case .notification(let notification):
                notification.isRefundRequest ? notification.transactionIdentifier : nil
            }
        }
        // The user's transactions that the entries are about.
        let transactions = try await entitlements.transactions(of: user, identifiedBy: references)
        let notifications = entries.notificationsOfEvents
        let attached = Set(notifications.values.joined())
        return HTML {
            filter.links(of: user, at: now)
            if entries.isEmpty {
                emptyNote("Nothing yet.")
            } else {
                ol(.class("timeline")) {
                    for each in entries {
                        if case .notification(let notification) = each.content, attached.contains(notification) {
                            HTML()
                        } else {
                            entry(of: each, among: transactions, notifications)
                        }
                    }
                }
            }
            Listing.pager(next.map { filter.path(of: user, after: $0) }, "Older entries")
        }
    }

    func timelinePage(_ request: Request) async throws -> Page {
        let timeline = try await timeline(request)
        return Page("Timeline", section: .customers) {
            Shown.wayBack(to: user)
            timeline
        }
    }

    /// - Parameter transactions: The user's transactions that entries are about.
    func entry(
        of entry: StoryEntry, among transactions: [RedeemedTransaction],
        _ notifications: [Int64: [StatedNotification]] = [:]
    ) -> HTML {
        switch entry.content {
        case .event(let event, let number, let otherOwner):
            self.entry(
                of: event, number, otherOwner, transactions.first { $0.isMeant(by: event) }, notifications[number] ?? []
            )
        case .notification(let notification): self.entry(of: notification, among: transactions)
        }
    }

    private func entry(
        of event: AuditEntry, _ number: Int64, _ otherOwner: User?, _ transaction: RedeemedTransaction?,
        _ notifications: [StatedNotification]
    ) -> HTML {
        let words = TimelineWords(entry: event, transaction: transaction, names: names)
        return li(.class(event.event.rule.mood.rawValue)) {
            div {
                a(.href(.customer(user, "events", String(number)))) { strong { words.title } }
                also(mark(event.origin))
            }
            div(.class("note")) {
                spaced(
                    by: " · ", Shown.moment(event.happenedAt), ActorWords.html(event.actor, keys))
                if let price = words.price { also(Shown.money(price), by: " · ") }
                if let date = words.earlierPurchase { also(spaced(Phrase("Bought"), Shown.day(date)), by: " · ") }
            }
            // In the words of a person, or in both languages.
            if let reason = words.reason { div { bdi { reason } } }
            if event.event == .refused { refusalNote(event.reason, otherOwner) }
            if !notifications.isEmpty {
                details {
                    summary(.class("note")) { "Notifications: \(notifications.count)" }
                    ol(.class("timeline")) { for each in notifications { entry(of: each, among: []) } }
                }
            }
        }
    }

    private func entry(of notification: StatedNotification, among transactions: [RedeemedTransaction]) -> HTML {
        let path = ConsolePath.customer(
            user, "notifications", notification.notificationUUID, query: ["origin": notification.origin.rawValue])
        return li(.class(notification.isRefundRequest ? Mood.warning.rawValue : Mood.neutral.rawValue)) {
            div {
                a(.href(path)) {
                    if notification.isRefundRequest {
                        strong { request(notification, among: transactions) }
                    } else {
                        spaced(
                            by: ": ", Phrase("Notification of \(notification.origin.store.nameInSentence)"),
                            data(notification.title))
                    }
                }
                also(mark(notification.origin))
            }
            div(.class("note")) { spaced(by: " · ", Shown.moment(notification.signedAt), notification.outcome.title) }
        }
    }

    /// A request for a refund, or its refusal, with the product.
    private func request(_ notification: StatedNotification, among transactions: [RedeemedTransaction]) -> Phrase {
        let company = notification.origin.store.company
        let event: Phrase =
            notification.asksForRefund ? "Refund requested of \(company)" : "Refund declined by \(company)"
        let transaction = transactions.first { transaction in
            transaction.origin == notification.origin
                && notification.transactionIdentifier?.hasSameBytes(as: transaction.transactionIdentifier) ?? false
        }
        guard let transaction else { return event }
        return "\(event): \(CustomerWords.isolated(names.product(transaction.productIdentifier)))"
    }
}

/// An event of the audit log in both languages.
struct TimelineWords {
    let entry: AuditEntry
    /// The user's transaction that the event is about; nil if it is not known.
    let transaction: RedeemedTransaction?
    let names: CatalogNames

    /// The event with its product, item or balance.
    var title: Phrase {
        switch entry.event {
        case .granted: granted
        case .revoked:
            isOfTeam ? about(Phrase("Revoked by the team", context: "event")) : about(takenBack)
        case .paymentRefunded where transaction?.takenBack?.what == .chargedBack: about(takenBack)
        default: entry.event.rule.object == .user ? entry.event.title : about(entry.event.title)
        }
    }

    /// The amount that was paid back, or the price that the customer paid; nil if the store has stated none.
    var price: Price? {
        if let refund = entry.refund, refund.milliunits > 0 { return refund }
        guard [.granted, .revoked].contains(entry.event), !isOfTeam else { return nil }
        return transaction?.paidPrice
    }

    /// The reason in words. The reason of a refusal is in its cause.
    var reason: Phrase? {
        guard let reason = entry.reason else { return nil }
        return switch entry.event.rule.reason {
        case .refusal: nil
        case .expiration: Phrase(stated: ExpirationReason(rawValue: reason)?.sentence ?? reason)
        case .canceler: Phrase(stated: ExpirationReason(canceler: reason)?.cancellation(at: store) ?? reason)
        case .end: "until \(reason)"
        case .plan: names.plan(SubscribedPlan(text: reason))
        case .words, nil: Phrase(same: reason)
        }
    }

    private var store: PurchaseStore { entry.origin?.store ?? .appStore }
    private var company: String { store.company }

    /// True if the team has changed the purchase, and has not redeemed it for the user.
    private var isOfTeam: Bool {
        switch entry.actor {
        case .apiKey, .member: entry.event != .granted || isLater
        // By the team's setting, as after a withdrawn consent.
        case .till: entry.event == .revoked
        case .user, .store: false
        }
    }

    /// True if the event is later than the redemption of its transaction.
    private var isLater: Bool { transaction.map { $0.redeemedAt < entry.happenedAt } ?? false }

    /// The title of an event by which the store took something back. The transaction has no refund that was reversed since, but the event
    /// has its money.
    private var takenBack: Phrase {
        switch transaction?.takenBack?.what ?? entry.refund.map({ _ in StoreReturn.refunded }) {
        case .refunded: "Refunded by \(company)"
        case .partlyRefunded: "Partly refunded by \(company)"
        case .chargedBack: "Charged back"
        case .shareEnded: "No longer shared by the family"
        case .seatTaken: "Seat taken back"
        case .revoked, nil: "Refunded or revoked by \(company)"
        }
    }

    /// The date of a charge that was redeemed a day or more after it; nil for another event.
    var earlierPurchase: Timestamp? {
        guard entry.event == .granted, !isLater, let date = transaction?.purchaseDate else { return nil }
        return date.adding(days: 1) <= entry.happenedAt ? date : nil
    }

    private var granted: Phrase {
        if isOfTeam { return about("Reinstated by the team") }
        if isLater { return about("Refund reversed by \(company)") }
        guard let transaction else { return about("Purchase") }
        let terms = PurchasePeriod.Terms(transaction.facts)
        let isFollowing =
            transaction.origin.store.namesPurchaseByFirstTransaction
            ? !transaction.transactionIdentifier.hasSameBytes(as: transaction.originalTransactionIdentifier)
                || terms.previous != nil
            : transaction.facts.text(.transactionReason) == TransactionReason.renewal.rawValue
        if isFollowing, transaction.expiresAt == nil { return about("Bought again, for free") }
        let isPurchase = transaction.facts.text(.transactionReason) == TransactionReason.purchase.rawValue
        if isFollowing, isPurchase, terms.isAdditional { return about("Seats added") }
        // A customer who subscribes again, or to another plan, has bought it (App Store Server API, `transactionReason`).
        if isFollowing, !isPurchase { return about("Renewal") }
        switch terms.ownership {
        case .familyShared: return about("Shared by the family")
        case .assigned: return about("Seat assigned")
        case .purchased, nil:
            return terms.isTrial ? about("Free trial") : about("Purchase")
        }
    }

    /// The event and its subject, which is a product, an item or an amount.
    private func about(_ event: Phrase) -> Phrase {
        "\(event): \(CustomerWords.isolated(names.subject(of: entry)))"
    }
}

extension CustomerView {
    /// The cause and the remedy of a refusal.
    ///
    /// - Parameter otherOwner: The owner of the purchase; nil if there is none, or if it is the same user.
    @HTMLBuilder func refusalNote(_ code: String?, _ otherOwner: User?) -> HTML {
        if let words = code.flatMap({ RefusalRemedy(code: $0) }) {
            div { words.causePhrase }
            div { words.remedyPhrase }
        } else if let code {
            div { Console.code { plain(code) } }
        }
        if let otherOwner {
            div {
                "Owner"; plain(": ")
                Shown.link(to: otherOwner)
            }
        }
    }
}

/// The part of a timeline that a page shows: all of it, a month, a kind of entries.
struct TimelineFilter {
    /// The part. Its bounds are those of the month in the time zone of the browser, and without the script in UTC.
    let part: StoryPart
    /// The first day of the month; nil for all months.
    private let month: CalendarDay?

    /// - Throws: `Problem`, `parameterInvalid`.
    init(_ request: Request) throws {
        func moment(_ name: String) throws -> Timestamp? {
            try request.query(name).flatMap { Int64($0) }.map { Timestamp(millisecondsSince1970: $0) }
        }
        month = try request.queriedMonth("month")
        part = StoryPart(
            month: month, from: try moment("from"), until: try moment("until"), kind: try request.query("kind"))
    }

    private static func text(_ month: CalendarDay) -> String { String(month.description.prefix(7)) }

    /// The next page of the part.
    func path(of user: User, after cursor: String) -> ConsolePath { path(of: user, after: cursor, month, part.kind) }

    private func path(
        of user: User, after cursor: String? = nil, _ month: CalendarDay?, _ kind: StoryKind?
    ) -> ConsolePath {
        func bound(_ moment: Timestamp?) -> String? {
            month == self.month ? moment.map { String($0.millisecondsSince1970) } : nil
        }
        return .customer(
            user, "timeline",
            query: [
                "cursor": cursor, "month": month.map(Self.text), "kind": kind?.rawValue,
                "from": bound(part.from), "until": bound(part.until),
            ])
    }

    /// Links to the other parts: the twelve months up to now, or up to an earlier one, and the kinds.
    @HTMLBuilder func links(of user: User, at now: Timestamp) -> HTML {
        let months = months(at: now)
        Tabs.list("Months") {
            Tabs.link("All", to: path(of: user, nil, part.kind), isPresent: month == nil)
            for each in months {
                a(
                    .href(path(of: user, each, part.kind)), HTMLAttribute("data-month", Self.text(each)),
                    each == month ? HTMLAttribute("aria-current", "page") : nil
                ) { CustomerWords.month(each) }
            }
            Tabs.link(
                "Earlier", to: path(of: user, months[11].adding(days: -1).firstOfMonth, part.kind), isPresent: false)
        }
        Tabs.choices("Kinds", [nil] + StoryKind.allCases, present: part.kind) {
            $0.map { Phrase(titled: $0) } ?? "All"
        } path: {
            path(of: user, month, $0)
        }
    }

    /// Twelve months, newest first.
    private func months(at now: Timestamp) -> [CalendarDay] {
        func months(before last: CalendarDay) -> [CalendarDay] {
            (1..<12).reduce(into: [last]) { months, _ in
                months += [months[months.count - 1].adding(days: -1).firstOfMonth]
            }
        }
        // The month begins fourteen hours earlier in the time zone furthest ahead.
        let latest = months(before: CalendarDay(now.adding(seconds: 14 * 3600)).firstOfMonth)
        return month.map { $0 < latest[11] ? months(before: $0) : latest } ?? latest
    }
}
