import Proofs

extension GoogleServiceAccountError: RuledError {
    package var rule: ErrorRule {
        let (sentence, korean) = reason
        return ErrorRule(
            "googleServiceAccountInvalid", .badGateway, isOfOperator: true,
            "The file is not the key of a service account: \(sentence). Create a JSON key in Google Cloud (IAM, Service accounts, "
                + "Keys), and use its file unchanged.",
            korean: "서비스 계정의 키 파일이 아닙니다: \(korean). Google Cloud의 서비스 계정에서 JSON 키를 만들고 파일을 그대로 사용하세요.")
    }

    /// The reason without any content of the file.
    private var reason: (english: String, korean: String) {
        switch self {
        case .tooLarge: ("it is larger than any key file", "키 파일보다 큽니다")
        case .notJSON: ("it is no JSON object", "JSON 객체가 아닙니다")
        case .otherType: ("its type is not service_account", "type이 service_account가 아닙니다")
        case .memberMissing(let member): ("\(member) is missing or has another form", "\(member)이(가) 없거나 형식이 다릅니다")
        case .tokenURLInsecure:
            ("token_uri must have HTTPS, or HTTP on this machine", "token_uri는 HTTPS이거나 이 컴퓨터의 HTTP여야 합니다")
        case .keyInvalid:
            ("private_key is no RSA key of 2048 to 8192 bits in PEM", "private_key가 2048~8192비트 RSA 키(PEM)가 아닙니다")
        }
    }
}
