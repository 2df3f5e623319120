import Features
import Proofs

/// An explanation of an item in both languages.
struct ExplanationWords {
    let explanation: ItemExplanation

    var sentence: Phrase { Phrase(explanation.sentence, korean) }

    /// Nil if no remedy is needed.
    var remedy: Phrase? { explanation.remedy.map { Phrase($0, koreanRemedy) } }

    private var products: String {
        explanation.products.map { CustomerWords.isolated($0) }.joined(separator: " 또는 ")
    }

    private var end: String {
        (explanation.until.map { ", \(CustomerWords.day($0).korean)까지" } ?? "")
            + (explanation.renews ? ", 갱신됩니다" : "")
    }

    private var purchased: String { explanation.since.map { CustomerWords.day($0).korean } ?? "" }

    private var reason: String { explanation.reason.map { ": \(CustomerWords.isolated($0))" } ?? "." }

    private var korean: String {
        switch explanation.cause {
        case .owned: "고객이 \(products) 상품을 샀습니다\(end)."
        case .familyShared: "가족 중 한 명이 \(products) 상품을 샀습니다\(end)."
        case .assigned: "다른 고객이 결제한 \(products) 상품의 좌석을 씁니다\(end)."
        case .gracePeriod: "갱신 요금을 결제하지 못했지만 유예 기간이 끝나지 않았습니다. 상품: \(products)\(end)."
        case .granted: "팀이 아이템을 지급했습니다\(end)."
        case .ownedByEverybody: "카탈로그가 모두에게 주는 아이템입니다."
        case .expired: "\(products) 상품이 만료되었습니다\(expiration)."
        case .renewalFailed: "\(products) 상품의 갱신 요금을 결제하지 못했습니다. Apple이 다시 시도합니다."
        case .refunded: "Apple이 \(products) 상품을 환불했습니다."
        case .revokedByAppStore: "Apple이 \(products) 상품을 회수했습니다."
        case .revokedByTeam: "팀이 \(products) 상품을 회수했습니다\(reason)"
        case .upgraded: "더 높은 등급의 구독이 \(products) 상품을 대신합니다."
        case .productChanged: "고객은 지금 \(products) 상품을 쓰며, 이 상품은 아이템을 주지 않습니다."
        case .originNotAccepted:
            "\(products) 상품은 \(explanation.origin?.rawValue ?? "")의 구매인데, 이 사용자에게는 허용되지 않습니다."
        case .grantEnded: "지급한 아이템의 기간이 끝났습니다."
        case .grantTakenBack: "팀이 지급한 아이템을 회수했습니다\(reason)"
        case .refused: "\(products) 구매가 거절되었습니다. \(refusal?.cause.korean ?? explanation.reason ?? "")"
        case .transferredToAnotherUser: "\(products) 구매가 다른 사용자에게 옮겨졌습니다."
        case .expected:
            "가져온 기록에 \(products) 구매(\(purchased)\(end))가 있습니다. "
                + (explanation.reason == nil ? "증명이 아직 도착하지 않아 아무것도 주지 않습니다." : "그 기간은 끝났습니다.")
        case .unclaimed: "고객은 여기에서 이 아이템을 산 적이 없습니다. 주인 없는 \(products) 구매가 있습니다."
        case .neverBought: "고객은 \(products) 상품을 산 적이 없습니다."
        case .notInCatalog: "이 아이템을 주는 상품이 카탈로그에 없습니다."
        }
    }

    private var expiration: String {
        explanation.reason.flatMap { ExpirationReason(rawValue: $0) }.map {
            " (\(CustomerWords.reason($0).korean))"
        } ?? ""
    }

    private var refusal: RefusalExplanation? { explanation.reason.flatMap { RefusalExplanation(code: $0) } }

    private var koreanRemedy: String {
        switch explanation.cause {
        case .gracePeriod, .renewalFailed: "고객이 App Store에서 결제 수단을 고쳐야 합니다."
        case .expired: "고객이 다시 구독하거나, 팀이 아이템을 지급할 수 있습니다."
        case .refunded, .revokedByAppStore:
            "환불은 Apple만 합니다(https://reportaproblem.apple.com). Apple이 환불을 취소하거나 팀이 지급하면 아이템이 돌아옵니다."
        case .revokedByTeam: "구매의 페이지에서 회수를 취소하세요."
        case .upgraded: "더 높은 등급의 상품도 이 아이템에 연결하세요."
        case .productChanged: "\(products) 상품도 이 아이템에 연결하거나, 아이템을 지급하세요."
        case .originNotAccepted:
            "테스터라면 `sandbox-users`에 추가하세요. 고객이라면 앱의 빌드를 확인하세요."
        case .grantEnded, .grantTakenBack: "아이템을 다시 지급하세요."
        case .refused: refusal?.remedy.korean ?? explanation.remedy ?? ""
        case .transferredToAnotherUser: "고객에게 그 사용자로 로그인하도록 안내하세요."
        case .expected:
            explanation.reason == nil
                ? "고객에게 앱에서 구매를 복원하도록 안내하세요. 서비스에 `app-store-key`가 있으면 기본값으로 하루에 한 번 App Store에도 묻습니다."
                : "그 뒤에 갱신했다면 앱에서 구매를 복원하도록 안내하세요. 아니면 고객이 다시 구독할 수 있습니다."
        case .unclaimed: "이 고객의 구매라면 앱에서 복원하거나, 주인 없는 구매의 페이지에서 배정하세요."
        case .neverBought: "고객에게 Apple 영수증이 있다면 앱에서 구매를 복원하고, 거절을 확인하세요."
        case .notInCatalog: "아이템을 주는 상품을 카탈로그에 추가하세요."
        case .owned, .familyShared, .assigned, .granted, .ownedByEverybody: explanation.remedy ?? ""
        }
    }
}
