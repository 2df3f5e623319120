import Proofs

/// The error of a use case of accounts or sessions.
package enum AccountError: String, RuledError, CaseIterable {
    case emailInvalid
    case emailTooLong
    case emailTaken
    /// The address has no account, or the password is wrong. The error does not say which, for security.
    case credentialsWrong
    case refreshTokenInvalid
    case refreshTokenExpired
    case refreshTokenReused
    case accountNotFound
    /// The link is unknown, used, or for another purpose.
    case linkInvalid
    case linkExpired
    /// The account has verified its address already.
    case emailVerified
    case emailUnchanged
    /// The mail limit of the address or the account is reached.
    case mailTooOften

    package var rule: ErrorRule {
        switch self {
        case .emailInvalid:
            ErrorRule(
                rawValue, .unprocessable, "The e-mail address is invalid. It must have the form name@example.com.",
                korean: "이메일 주소가 올바르지 않습니다. name@example.com과 같은 형식이어야 합니다.")
        case .emailTooLong:
            ErrorRule(
                rawValue, .unprocessable, "The e-mail address is longer than \(EmailAddress.maximumLength) bytes.",
                korean: "이메일 주소가 \(EmailAddress.maximumLength)바이트를 넘습니다.")
        case .emailTaken:
            ErrorRule(
                rawValue, .conflict, "The e-mail address has an account. Log in, or sign up with another.",
                korean: "이 이메일 주소의 계정이 있습니다. 로그인하거나 다른 주소로 가입하세요.")
        case .credentialsWrong:
            ErrorRule(
                rawValue, .unauthorized, "No account has this e-mail address and password.",
                korean: "이메일 주소나 비밀번호가 올바르지 않습니다.")
        case .refreshTokenInvalid:
            ErrorRule(
                rawValue, .unauthorized, "The refresh token is unknown, or its session has ended. Log in.",
                korean: "알 수 없는 갱신 토큰이거나 세션이 끝났습니다. 로그인하세요.")
        case .refreshTokenExpired:
            ErrorRule(
                rawValue, .unauthorized, "The refresh token has expired. Log in.",
                korean: "갱신 토큰이 만료되었습니다. 로그인하세요.")
        case .refreshTokenReused:
            ErrorRule(
                rawValue, .unauthorized,
                "The refresh token was used before, so it may be stolen. Its session was ended; log in.",
                korean: "이미 사용한 갱신 토큰이므로 도난당했을 수 있습니다. 세션을 끝냈습니다. 로그인하세요.")
        case .accountNotFound:
            ErrorRule(
                rawValue, .notFound, "The user has no account of this service.", korean: "사용자에게 이 서비스의 계정이 없습니다.")
        case .linkInvalid:
            ErrorRule(
                rawValue, .unprocessable, "The link is unknown, used, or for another purpose. Ask for a new one.",
                korean: "알 수 없거나 이미 사용했거나 용도가 다른 링크입니다. 새 링크를 요청하세요.")
        case .linkExpired:
            ErrorRule(
                rawValue, .unprocessable, "The link has expired. Ask for a new one.",
                korean: "링크가 만료되었습니다. 새 링크를 요청하세요.")
        case .emailVerified:
            ErrorRule(
                rawValue, .conflict, "The account has verified its e-mail address already. Nothing was changed.",
                korean: "계정의 이메일 주소를 이미 확인했습니다. 아무것도 바꾸지 않았습니다.")
        case .emailUnchanged:
            ErrorRule(
                rawValue, .unprocessable, "The account already has this e-mail address. Give another one.",
                korean: "계정에 이미 이 이메일 주소가 있습니다. 다른 주소를 입력하세요.")
        case .mailTooOften:
            ErrorRule(
                rawValue, .tooManyRequests, mayRetry: true, secondsToWait: 3600,
                "The limit of mails per hour is reached. Look for the earlier mails, or wait.",
                korean: "한 시간에 보내는 메일의 한도에 이르렀습니다. 앞서 받은 메일을 찾거나 기다리세요.")
        }
    }
}
