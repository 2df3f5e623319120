import AppStore
import Proofs

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
