import AppStore
import HTTPSupport
import Hummingbird
import Proofs

/// The settings of the store, the faults of the next notifications, and the ways to clear everything.
struct StoreSettingsPage {
    let context: ConsoleContext
    let settings: StoreSettings
    let faults: [NotificationFault]

    var page: Page {
        Page(Phrase("Settings of the store", "스토어 설정"), section: .localStore) {
            LocalStoreTab.links(.settings)
            section(.class("card")) {
                h2 { Phrase("Set now", "현재 조건") }
                StoreConditions(settings: settings, faults: faults).list
            }
            StoreSettingsForm(context: context, settings: settings).html
            section(.class("card")) {
                h2 { Phrase("Faults of the next notifications", "다음 알림의 오류") }
                faultForm
            }
            section(.class("card")) {
                h2 { Phrase("Clear", "비우기") }
                clearing
            }
        }
    }

    private var faultForm: HTML {
        HTML {
            p {
                Phrase(
                    "Each fault is for one notification, in order. They test the server that receives notifications.",
                    "오류는 순서대로 알림 하나에 하나씩 적용됩니다. 알림을 받는 서버를 시험합니다.")
            }
            context.form(to: ConsolePath("store", "faults"), .class("narrow")) {
                Field.choice("fault", Phrase("Fault", "오류"), Self.faults)
                Field.number(
                    "delay", Phrase("Delay in seconds", "지연 시간 (초)"), value: "60",
                    note: Phrase("Only for a late notification.", "늦게 보낼 때만 사용합니다."))
                Field.number(
                    "count", Phrase("Number of notifications (1 to 20)", "알림 수 (1–20)"), value: "1", isRequired: true)
                button { Phrase("Add", "추가") }
            }
            if !faults.isEmpty {
                context.form(to: ConsolePath("store", "faults", "clear")) {
                    button { Phrase("Clear the faults", "오류 비우기") }
                }
            }
        }
    }

    private static let faults: [(value: String, title: Phrase)] = [
        ("duplicate", Phrase("Sent twice", "두 번 보내기")),
        ("reorder", Phrase("Sent after the next one", "다음 알림보다 늦게 보내기")),
        ("drop", Phrase("Never sent", "보내지 않기")), ("delay", Phrase("Sent late", "늦게 보내기")),
    ]

    private var clearing: HTML {
        HTML {
            details(.class("action")) {
                summary { Phrase("Clear the transactions", "거래 비우기") }
                context.form(to: ConsolePath("store", "clear")) {
                    p {
                        Phrase(
                            "Deletes all payments, sales, subscriptions and notifications of the store. The service keeps "
                                + "what it has granted.",
                            "스토어의 모든 결제, 판매, 구독, 알림을 삭제합니다. 서비스가 지급한 것은 그대로 남습니다.")
                    }
                    button(.class("danger")) { Phrase("Clear the transactions", "거래 비우기") }
                }
            }
            details(.class("action")) {
                summary { Phrase("Reset the store", "스토어 초기화") }
                context.form(to: ConsolePath("store", "reset")) {
                    p {
                        Phrase(
                            "Clears the transactions, the clock and the settings. The keys, the products and the address "
                                + "of notifications stay.",
                            "거래, 시계, 설정을 초기화합니다. 키, 상품, 알림 주소는 남습니다.")
                    }
                    button(.class("danger")) { Phrase("Reset the store", "스토어 초기화") }
                }
            }
        }
    }
}

/// The settings of the local store, and the ways to clear it.
struct StoreSettingsRoutes: Sendable {
    private static let maximumFaults = 20

    let store: Store

    func add(to pages: ConsolePages) {
        pages.get("store/settings", .store) { _, context in
            try await BlockingWork.run { [store] in
                StoreSettingsPage(context: context, settings: try store.settings(), faults: try store.faults()).page
            }
        }
        pages.post("store/settings", .store) { _, context in
            let changes = try StoreSettingsForm.changes(context.form)
            try await BlockingWork.run { [store] in _ = try store.update(changes) }
            return done(.saved)
        }
        pages.post("store/faults", .store) { _, context in
            let faults = try Self.faults(context.form)
            try await BlockingWork.run { [store] in try store.add(faults) }
            return done(.saved)
        }
        pages.post("store/faults/clear", .store) { _, _ in
            try await BlockingWork.run { [store] in try store.clearFaults() }
            return done(.cleared)
        }
        pages.post("store/clear", .store) { _, _ in
            try await BlockingWork.run { [store] in try store.clearTransactions() }
            return done(.cleared)
        }
        pages.post("store/reset", .store) { _, _ in
            try await BlockingWork.run { [store] in _ = try store.reset() }
            return done(.cleared)
        }
    }

    private func done(_ notice: Notice) -> ConsolePath {
        ConsolePath("store", "settings", query: ["done": notice.rawValue])
    }

    private static func faults(_ form: ConsoleForm) throws -> [NotificationFault] {
        let kind = try form.requiredText("fault")
        let name = kind == "delay" ? "delay:\(try form.integer("delay") ?? -1)" : kind
        guard let fault = NotificationFault(name: name) else {
            throw kind == "delay"
                ? ConsoleForm.invalid("delay", "a number of seconds, at most a year")
                : ConsoleForm.invalid("fault", "duplicate, reorder, drop or delay")
        }
        guard let count = try form.integer("count"), (1...maximumFaults).contains(count) else {
            throw ConsoleForm.invalid("count", "from 1 to \(maximumFaults)")
        }
        return Array(repeating: fault, count: count)
    }
}
