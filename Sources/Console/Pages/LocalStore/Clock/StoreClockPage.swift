import AppStore
import HTTPSupport
import Hummingbird
import Proofs

/// The store's clock, and the list of what happened during a step.
struct StoreClockPage {
    /// The maximum number of events on the page.
    static let maximumEvents = 200

    let context: ConsoleContext
    let now: Timestamp
    /// The start of the last step; nil if there was none.
    let start: Timestamp?
    /// The events since the start, up to one more than the page shows.
    let events: [DueEvent]

    var page: Page {
        Page(Phrase("Clock", "시계"), section: .localStore) {
            LocalStoreTab.links(.clock)
            section(.class("card")) {
                p(.class("figure")) { Shown.moment(now) }
                Self.buttons(context)
                context.form(to: LocalStoreTab.clock.path, .class("narrow")) {
                    Field.text(
                        "step", Phrase("Another step", "다른 간격"), maximumLength: 8, isRequired: true,
                        note: Phrase(
                            "A number and a unit: 90s, 5min, 2h, 3d, 1w, 1mo or 1y. At most ten years.",
                            "숫자와 단위: 90s, 5min, 2h, 3d, 1w, 1mo, 1y. 최대 10년."))
                    button { Phrase("Advance", "앞으로 돌리기") }
                }
                p(.class("note")) {
                    Phrase(
                        "The clock only moves forward. Everything that is due in between happens in order, at its own "
                            + "moment, and the service is notified.",
                        "시계는 앞으로만 움직입니다. 그 사이에 예정된 일은 순서대로 제시간에 일어나고, 서비스에 알림이 갑니다.")
                }
            }
            if let start { happened(since: start) }
        }
    }

    private func happened(since start: Timestamp) -> HTML {
        HTML {
            h2 { Phrase("What happened", "일어난 일") }
            p {
                Shown.moment(start)
                plain(" – ")
                Shown.moment(now)
            }
            if events.isEmpty {
                p(.class("empty")) { Phrase("Nothing was due.", "예정된 일이 없었습니다.") }
            } else {
                ol(.class("timeline")) {
                    for event in events.prefix(Self.maximumEvents) {
                        li(.class(StoreWords.mood(event.kind).rawValue)) { sentence(event) }
                    }
                }
            }
            if events.count > Self.maximumEvents {
                p(.class("note")) {
                    Phrase(
                        "These are the first \(Self.maximumEvents) events. The list of transactions has all renewals.",
                        "처음 \(Self.maximumEvents)건만 표시합니다. 모든 갱신은 거래 목록에 있습니다.")
                }
            }
        }
    }

    private func sentence(_ event: DueEvent) -> HTML {
        HTML {
            Shown.moment(event.date)
            plain(" ")
            Shown.badge(StoreWords.title(event.kind), StoreWords.mood(event.kind))
            div {
                switch event.kind {
                case .renewed: Phrase("The subscription renewed and was charged:", "구독이 갱신되어 요금이 청구되었습니다:")
                case .renewalFailed:
                    Phrase(
                        "The renewal could not be charged. The store tries again:",
                        "갱신 요금을 청구하지 못했습니다. 스토어가 다시 시도합니다:")
                case .gracePeriodEnded:
                    Phrase(
                        "The grace period ended without a charge. The customer lost access:",
                        "청구하지 못한 채 결제 유예 기간이 끝났습니다. 고객은 더 이상 이용할 수 없습니다:")
                case .expired: Phrase("The subscription ended:", "구독이 끝났습니다:")
                }
                plain(" ")
                Shown.identifier(event.productIdentifier)
                plain(", ")
                StoreRows.account(event.account)
                plain(", ")
                a(.href(.storeTransaction(event.transactionIdentifier))) {
                    Shown.identifier(event.transactionIdentifier)
                }
            }
        }
    }

    /// The buttons for the common steps.
    static func buttons(_ context: ConsoleContext) -> HTML {
        context.form(to: LocalStoreTab.clock.path, .class("actions")) {
            for (step, title) in [
                ("1d", Phrase("Day", "하루")), ("1w", Phrase("Week", "일주일")), ("1mo", Phrase("Month", "한 달")),
            ] {
                button(.name("step"), .value(step)) {
                    plain("+ ")
                    title
                }
            }
        }
    }
}

/// The clock of the local store.
struct StoreClockRoutes: Sendable {
    /// The longest time that a browser waits for the due events and their notifications, below the time limit of a request.
    private static let patience = Duration.seconds(15)

    let store: Store

    func add(to pages: ConsolePages) {
        pages.get("store/clock", .store) { request, context in
            let start = try request.query("from").map { text in
                guard let milliseconds = Int64(text), (0...(1 << 53)).contains(milliseconds) else {
                    throw Problem.parameter("from", "a number of milliseconds since 1970")
                }
                return Timestamp(millisecondsSince1970: milliseconds)
            }
            return try await BlockingWork.run { [store] in
                let now = store.now
                let events =
                    try start.map {
                        try store.dueEvents(after: $0, until: now, limit: StoreClockPage.maximumEvents + 1)
                    } ?? []
                return StoreClockPage(context: context, now: now, start: start, events: events).page
            }
        }
        pages.post("store/clock", .store) { _, context in
            let text = try context.form.requiredText("step", upTo: 8)
            guard let step = TimeStep(text) else {
                throw ConsoleForm.invalid("step", "a number and one of s, min, h, d, w, mo and y, such as 1mo")
            }
            let start = try await BlockingWork.run { [store] in store.now }
            let end = try await BlockingWork.run(waitingUpTo: Self.patience) { [store] in
                try await store.advance(step, deliveringWithin: Store.longestDelivery)
            }
            // Years of a busy store take longer. The clock goes on.
            let notice = end == nil ? Notice.started : .advanced
            return ConsolePath(
                "store", "clock", query: ["from": String(start.millisecondsSince1970), "done": notice.rawValue])
        }
    }
}
