import Proofs

/// The meanings of the fields of proofs, in a few words.
package enum ProofFieldMeaning {
    private static let maximumLength = 64

    /// The meaning of a field. Nil for an unknown field, or one whose name says it.
    package static func phrase(of name: String) -> Phrase? {
        // Names come from strangers, and hashing a long name of combined characters is slow.
        guard name.utf8.count <= maximumLength, name.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        return fields[name]
    }

    /// The meaning of a number in a field. Nil if it is an amount, or unknown.
    static func phrase(ofNumber digits: String, in name: String) -> Phrase? {
        guard name.utf8.count <= maximumLength, digits.utf8.count <= 4, name.utf8.allSatisfy({ $0 < 0x80 }) else {
            return nil
        }
        return numbers[name]?[digits]
    }

    private static let fields: [String: Phrase] = {
        var fields = others
        for fact in TransactionFact.allCases { fields["\(fact)"] = phrase(fact.field.meaning) }
        for fact in RenewalFact.allCases { fields["\(fact)"] = phrase(fact.field.meaning) }
        for attribute in AppReceipt.Attribute.allCases { fields["\(attribute)"] = phrase(attribute.meaning) }
        for attribute in InAppPurchase.Attribute.allCases { fields["\(attribute)"] = phrase(attribute.meaning) }
        return fields
    }()

    private static func phrase(_ meaning: String) -> Phrase { Phrase(meaning, korean[meaning] ?? meaning) }

    /// The fields outside the tables of `Receipts`.
    private static let others: [String: Phrase] = [
        "alg": Phrase("signature algorithm", "서명 알고리즘"),
        "kid": Phrase("key", "키"),
        "typ": Phrase("type of the token", "토큰 종류"),
        "x5c": Phrase("certificate chain", "인증서 사슬"),
        "contentType": Phrase("type of the content", "내용의 형식"),
        "digestAlgorithm": Phrase("hash function", "해시 함수"),
        "signatureAlgorithm": Phrase("signature algorithm", "서명 알고리즘"),
        "signerSerialNumber": Phrase("serial number of the signer's certificate", "서명자 인증서의 일련번호"),
        "bundleVersion": Phrase("version of the app", "앱 버전"),
        "consumptionRequestReason": Phrase("reason of the refund request", "환불 요청 사유"),
        "data": Phrase("the affected app and purchase", "해당 앱과 구매"),
        "deviceVerification": Phrase("binding to the device", "기기와의 연결"),
        "deviceVerificationNonce": Phrase("input of the binding", "연결에 쓰인 값"),
        "externalPurchaseToken": Phrase("purchase outside the App Store", "App Store 밖의 구매"),
        "notificationType": Phrase("event", "사건"),
        "notificationUUID": Phrase("identifier of the notification", "알림 식별자"),
        "originalPlatform": Phrase("platform of the first download", "처음 받은 플랫폼"),
        "preorderDate": Phrase("pre-order", "사전 주문"),
        "revocationDate": Phrase("refund or revocation", "환불 또는 회수"),
        "revocationReason": Phrase("reason of the refund", "환불 사유"),
        "signedAppTransactionInfo": Phrase("signed app transaction", "서명된 앱 거래"),
        "signedRenewalInfo": Phrase("signed renewal information", "서명된 갱신 정보"),
        "signedTransactionInfo": Phrase("signed transaction", "서명된 거래"),
        "status": Phrase("state of the subscription", "구독 상태"),
        "subtype": Phrase("detail of the event", "사건의 세부"),
        "summary": Phrase("extension of many subscriptions", "여러 구독의 연장"),
        "tokenCreationDate": Phrase("creation of the token", "토큰 생성"),
        "unclaimInfo": Phrase("seats without a claim", "배정이 해제된 좌석"),
        "version": Phrase("version of the format", "형식의 버전"),
    ]

    /// The Korean of the meanings in the tables of `Receipts`.
    private static let korean: [String: String] = [
        "Advanced Commerce data": "Advanced Commerce 정보",
        "Apple retries the charge": "Apple이 결제 재시도 중",
        "age rating": "연령 등급",
        "app": "앱",
        "billing event": "결제 사건",
        "billing plan": "결제 방식",
        "billing plan of the next period": "다음 기간의 결제 방식",
        "binding to the device": "기기와의 연결",
        "bought, shared in the family or a seat": "구매, 가족 공유 또는 좌석",
        "commitment": "약정",
        "consent to a price increase": "가격 인상 동의",
        "country of the App Store": "App Store 국가",
        "currency": "통화",
        "date of the signature": "서명 날짜",
        "download": "다운로드",
        "end of the grace period": "유예 기간의 끝",
        "end of the paid period": "결제 기간의 끝",
        "end of the receipt": "영수증의 만료",
        "first purchase": "첫 구매",
        "first transaction of the purchase": "구매의 첫 거래",
        "free trial": "무료 체험",
        "full, prorated or family": "전액, 비례 또는 가족",
        "in thousandths of the currency": "통화의 1/1000 단위",
        "input of the binding to the device": "기기 연결에 쓰인 값",
        "introductory price": "신규 구독 혜택",
        "kind of the offer": "혜택 종류",
        "kind of the product": "상품 종류",
        "length of the offer": "혜택 기간",
        "next renewal": "다음 갱신",
        "number bought": "수량",
        "number of seats that renew": "갱신할 좌석 수",
        "offer": "혜택",
        "payment mode of the offer": "혜택의 결제 방식",
        "product": "상품",
        "product of the next renewal": "다음에 갱신될 상품",
        "purchase": "구매",
        "purchase or renewal": "구매 또는 갱신",
        "reason of several transactions in a period": "한 기간에 거래가 여럿인 사유",
        "reason of the expiry": "만료 사유",
        "refund or revocation": "환불 또는 회수",
        "refunded share in thousandths of a percent": "환불 비율 (퍼센트의 1/1000)",
        "renewal": "갱신 여부",
        "replaced by a higher level": "상위 등급으로 바뀜",
        "seats and their prices": "좌석과 가격",
        "start of the current subscription": "현재 구독의 시작",
        "store environment": "스토어 환경",
        "storefront": "스토어프런트",
        "subscription group": "구독 그룹",
        "the app's Apple ID": "앱의 Apple ID",
        "the app's token of the customer": "앱이 정한 고객 토큰",
        "the customer's download of the app": "고객의 앱 다운로드",
        "the product's Apple ID": "상품의 Apple ID",
        "the version's Apple ID": "버전의 Apple ID",
        "transaction": "거래",
        "version first downloaded": "처음 받은 버전",
        "version of the app": "앱 버전",
        "win-back offers for the customer": "고객이 받을 수 있는 재구독 혜택",
    ]

    /// The numbers with a meaning (App Store Server API; App Store Receipts).
    private static let numbers: [String: [String: Phrase]] = [
        "autoRenewStatus": ["0": Phrase("off", "꺼짐"), "1": Phrase("on", "켜짐")],
        "expirationIntent": [
            "1": Phrase("the customer cancelled", "고객이 해지"), "2": Phrase("billing error", "결제 오류"),
            "3": Phrase("no consent to a price increase", "가격 인상에 동의하지 않음"),
            "4": Phrase("product not available", "상품을 판매하지 않음"), "5": Phrase("another reason", "기타"),
        ],
        "offerType": [
            "1": Phrase("introductory", "신규 구독"), "2": Phrase("promotional", "프로모션"),
            "3": Phrase("offer code", "할인 코드"),
            "4": Phrase("win-back", "재구독"),
        ],
        "priceIncreaseStatus": [
            "0": Phrase("not answered yet", "아직 응답 없음"), "1": Phrase("agreed", "동의함"),
        ],
        "productType": [
            "0": Phrase("non-consumable", "비소모품"), "1": Phrase("consumable", "소모품"),
            "2": Phrase("non-renewing subscription", "비갱신 구독"), "3": Phrase("auto-renewable subscription", "자동 갱신 구독"),
        ],
        "revocationReason": [
            "0": Phrase("another reason", "기타"), "1": Phrase("an issue in the app", "앱의 문제"),
        ],
        "status": [
            "1": Phrase("active", "유효"), "2": Phrase("expired", "만료"), "3": Phrase("billing retry", "결제 재시도"),
            "4": Phrase("grace period", "유예 기간"), "5": Phrase("revoked", "회수"),
        ],
    ]
}
