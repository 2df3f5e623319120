import Proofs

extension GoogleServiceAccountError: RuledError {
    package var rule: ErrorRule {
        ErrorRule(
            code, .badGateway, isOfOperator: true, message,
            korean: "서비스 계정의 키 파일이 아닙니다: \(korean). Google Cloud의 서비스 계정에서 JSON 키를 만들고 파일을 그대로 사용하세요.")
    }

    private var korean: String {
        switch self {
        case .tooLarge: "키 파일보다 큽니다"
        case .notJSON: "JSON 객체가 아닙니다"
        case .otherType: "type이 service_account가 아닙니다"
        case .memberMissing(let member): "\(member)이(가) 없거나 형식이 다릅니다"
        case .tokenURLInsecure: "token_uri는 HTTPS이거나 이 컴퓨터의 HTTP여야 합니다"
        case .keyInvalid: "private_key가 2048~8192비트 RSA 키(PEM)가 아닙니다"
        }
    }
}
