import AppStore
import Foundation
import HTTPSupport
import Proofs

/// The form of the store's settings.
struct StoreSettingsForm {
    /// The maximum length of an address, in bytes.
    private static let maximumAddressLength = 1024

    let context: ConsoleContext
    let settings: StoreSettings

    var html: HTML {
        context.form(to: LocalStoreTab.settings.path) {
            div(.class("columns")) {
                section(.class("card")) {
                    h2 { Phrase("Customer", "고객") }
                    Field.choice(
                        "storefront", Phrase("Storefront", "스토어프런트"),
                        Storefront.all.map {
                            ($0.countryCode, Phrase(same: "\($0.countryCode) (\($0.currency))"))
                        }, chosen: settings.storefront)
                    Field.text(
                        "locale", Phrase("Locale", "언어 및 지역"), value: settings.locale, maximumLength: 32,
                        isRequired: true)
                    Field.checkbox(
                        "ask-to-buy", StoreConditions.askToBuy, isChecked: settings.isAskToBuyEnabled)
                    Field.checkbox(
                        "interrupted-purchases", StoreConditions.interruptedPurchases,
                        isChecked: settings.areInterruptedPurchasesEnabled)
                }
                section(.class("card")) {
                    h2 { Phrase("Subscriptions", "구독") }
                    Field.choice(
                        "time-rate", Phrase("Time rate", "시간 속도"),
                        TimeRate.allCases.map { ($0.name, Phrase(same: $0.name)) }, chosen: settings.timeRate.name)
                    Field.checkbox(
                        "failing-renewals", StoreConditions.failingRenewals,
                        isChecked: settings.shouldEnterBillingRetryOnRenewal)
                    Field.checkbox(
                        "grace-period", StoreConditions.gracePeriod, isChecked: settings.isBillingGracePeriodEnabled)
                }
                errors
                section(.class("card")) {
                    h2 { Phrase("Server", "서버") }
                    Field.text(
                        "notifications-url", Phrase("Address of notifications", "알림 주소"),
                        value: settings.notificationsURL?.absoluteString ?? "",
                        maximumLength: Self.maximumAddressLength,
                        note: Phrase("Empty sends no notifications.", "비우면 알림을 보내지 않습니다."))
                    Field.text(
                        "shared-secret", Phrase("Shared secret of verifyReceipt", "verifyReceipt 공유 암호"),
                        value: settings.sharedSecret ?? "", note: Phrase("Empty accepts any.", "비우면 모두 허용합니다."))
                    Field.number(
                        "receipt-status", Phrase("Status that verifyReceipt always answers", "verifyReceipt 고정 응답"),
                        value: settings.verifyReceiptStatus.map(String.init) ?? "",
                        note: Phrase("Empty answers the real status.", "비우면 실제 상태를 응답합니다."))
                    Field.number(
                        "requests-per-minute",
                        Phrase("App Store Server API requests a minute", "App Store Server API 분당 요청 수"),
                        value: settings.serverAPIRequestsPerMinute.map(String.init) ?? "",
                        note: Phrase("Empty sets no limit.", "비우면 제한이 없습니다."))
                }
            }
            button(.class("primary")) { Phrase("Save", "저장") }
        }
    }

    private var errors: HTML {
        section(.class("card")) {
            h2 { Phrase("Simulated errors", "오류 시뮬레이션") }
            Field.choice(
                "failure-error", Phrase("SKError of every payment", "모든 결제의 SKError"),
                [("", Self.none)] + SKErrorCode.allCases.map { ($0.name, Phrase(same: $0.name)) },
                chosen: settings.failureError.map { (SKErrorCode(rawValue: $0) ?? .unknown).name } ?? "")
            for call in StoreKitCall.allCases {
                Field.choice(
                    Self.field(call), Phrase(same: call.rawValue),
                    [("", Self.none)] + call.failures.map { ($0.rawValue, Phrase(same: $0.rawValue)) },
                    chosen: settings.simulatedErrors[call]?.rawValue ?? "")
            }
        }
    }

    private static let none = Phrase("No error", "오류 없음")

    private static func field(_ call: StoreKitCall) -> String { "error-" + call.rawValue }

    /// Reads the settings of a form.
    ///
    /// - Returns: A closure that applies them. It changes nothing else.
    static func changes(_ form: ConsoleForm) throws -> @Sendable (inout StoreSettings) -> Void {
        let storefront = try form.requiredText("storefront", upTo: 3)
        let locale = try form.requiredText("locale", upTo: 32)
        guard let timeRate = TimeRate(name: try form.text("time-rate")) else {
            throw ConsoleForm.invalid("time-rate", "a rate by its name in StoreKitTest")
        }
        let failure = try choice(form, "failure-error", of: "an SKError by its name") { SKErrorCode(name: $0) }
        let address = try choice(
            form, "notifications-url", upTo: maximumAddressLength, of: "an http or https URL", web)
        let status = try form.integer("receipt-status").map(Int64.init)
        let requests = try form.integer("requests-per-minute")
        guard requests ?? 1 >= 1 else { throw ConsoleForm.invalid("requests-per-minute", "at least 1, or empty") }
        let secret = try form.text("shared-secret")
        var errors: [StoreKitCall: StoreKitFailure] = [:]
        for call in StoreKitCall.allCases {
            errors[call] = try choice(form, field(call), of: "an error of the call") { name in
                call.failures.first { $0.rawValue == name }
            }
        }
        let switches = ["ask-to-buy", "interrupted-purchases", "failing-renewals", "grace-period"].map(form.isChecked)
        return { [errors] settings in
            settings.storefront = storefront
            settings.locale = locale
            settings.timeRate = timeRate
            settings.isAskToBuyEnabled = switches[0]
            settings.areInterruptedPurchasesEnabled = switches[1]
            settings.shouldEnterBillingRetryOnRenewal = switches[2]
            settings.isBillingGracePeriodEnabled = switches[3]
            settings.failureError = failure?.rawValue
            settings.simulatedErrors = errors
            settings.notificationsURL = address
            settings.sharedSecret = secret.isEmpty ? nil : secret
            settings.verifyReceiptStatus = status == 0 ? nil : status
            settings.serverAPIRequestsPerMinute = requests.map(Int64.init)
        }
    }

    /// The value of a field; nil if the field is empty.
    private static func choice<Value>(
        _ form: ConsoleForm,
        _ name: String,
        upTo maximumLength: Int = JSONBody.maximumLength,
        of expected: String,
        _ parse: (String) -> Value?
    ) throws(Problem) -> Value? {
        let text = try form.text(name, upTo: maximumLength)
        guard !text.isEmpty else { return nil }
        guard let value = parse(text) else { throw ConsoleForm.invalid(name, expected) }
        return value
    }

    private static func web(_ text: String) -> URL? {
        URL(string: text).flatMap { url in
            ["http", "https"].contains(url.scheme) && url.host()?.isEmpty == false ? url : nil
        }
    }
}

/// The simulated conditions that are set now.
struct StoreConditions {
    let settings: StoreSettings
    let faults: [NotificationFault]

    var list: HTML {
        let shown = conditions
        return HTML {
            p {
                Phrase("Storefront", "스토어프런트")
                plain(": ")
                Shown.identifier(settings.storefront)
                plain(" · ")
                Phrase("time rate", "시간 속도")
                plain(": ")
                Shown.identifier(settings.timeRate.name)
            }
            if shown.isEmpty {
                p(.class("empty")) {
                    Phrase("Purchases and renewals succeed.", "구매와 갱신이 성공합니다.")
                }
            } else {
                ul { for condition in shown { li { condition } } }
            }
        }
    }

    private var conditions: [HTML] {
        let switches: [(Bool, Phrase)] = [
            (settings.isAskToBuyEnabled, Self.askToBuy),
            (settings.areInterruptedPurchasesEnabled, Self.interruptedPurchases),
            (settings.shouldEnterBillingRetryOnRenewal, Self.failingRenewals),
            (settings.isBillingGracePeriodEnabled, Self.gracePeriod),
            (settings.notificationsURL == nil, Phrase("Notifications are not sent", "알림을 보내지 않음")),
        ]
        var shown = switches.filter(\.0).map { condition in HTML { condition.1 } }
        if let error = settings.failureError {
            shown.append(
                HTML {
                    Phrase("Payments fail with", "결제 실패 오류:")
                    plain(" ")
                    Shown.identifier((SKErrorCode(rawValue: error) ?? .unknown).name)
                })
        }
        for (call, failure) in settings.simulatedErrors.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            shown.append(
                HTML {
                    Shown.identifier(call.rawValue)
                    plain(" ")
                    Phrase("fails with", "실패 오류:")
                    plain(" ")
                    Shown.identifier(failure.rawValue)
                })
        }
        if !faults.isEmpty {
            shown.append(
                HTML {
                    Phrase("Faults of the next notifications", "다음 알림의 오류")
                    plain(": ")
                    Shown.identifier(faults.prefix(10).map(\.name).joined(separator: ", "))
                    if faults.count > 10 { plain(" … (\(faults.count))") }
                })
        }
        return shown
    }

    static let askToBuy = Phrase("Ask to Buy: payments wait for approval", "구입 요청: 결제가 승인을 기다림")
    static let interruptedPurchases = Phrase(
        "Interrupted purchases: payments fail until they are resolved", "중단된 구매: 문제를 해결할 때까지 결제가 실패함")
    static let failingRenewals = Phrase(
        "Billing retry: renewals cannot be charged", "결제 재시도: 갱신 요금을 청구할 수 없음")
    static let gracePeriod = Phrase(
        "Billing grace period after a failed renewal", "갱신 실패 후 결제 유예 기간 제공")
}
