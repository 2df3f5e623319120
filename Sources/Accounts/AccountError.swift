import Commerce

/// Why nothing became of an account, or of a session.
public enum AccountError: CodedError, Equatable {
    case emailInvalid
    case emailTooLong
    case emailTaken
    case passwordTooShort
    case passwordTooLong
    case passwordTooCommon
    case passwordLikeEmail
    /// Who logs in has no account, or another password: which of the two is nobody's business.
    case credentialsWrong
    /// Who is logged in has another password.
    case passwordWrong
    case refreshTokenInvalid
    case refreshTokenExpired
    case refreshTokenReused
    case accountNotFound
    /// There was not the memory to hash a password.
    case passwordNotHashed

    public var code: String {
        switch self {
        case .emailInvalid: "emailInvalid"
        case .emailTooLong: "emailTooLong"
        case .emailTaken: "emailTaken"
        case .passwordTooShort: "passwordTooShort"
        case .passwordTooLong: "passwordTooLong"
        case .passwordTooCommon: "passwordTooCommon"
        case .passwordLikeEmail: "passwordLikeEmail"
        case .credentialsWrong: "credentialsWrong"
        case .passwordWrong: "passwordWrong"
        case .refreshTokenInvalid: "refreshTokenInvalid"
        case .refreshTokenExpired: "refreshTokenExpired"
        case .refreshTokenReused: "refreshTokenReused"
        case .accountNotFound: "accountNotFound"
        case .passwordNotHashed: "passwordNotHashed"
        }
    }

    public var message: String {
        switch self {
        case .emailInvalid: "The e-mail address is none: it has to read like name@example.com."
        case .emailTooLong: "The e-mail address is longer than \(EmailAddress.maximumLength) bytes."
        case .emailTaken: "The e-mail address has an account: log in, or sign up with another."
        case .passwordTooShort: "The password has to have \(Password.minimumLength) characters at least."
        case .passwordTooLong: "The password is longer than \(Password.maximumLength) bytes."
        case .passwordTooCommon: "The password is one of the first that anybody would guess: choose another."
        case .passwordLikeEmail: "The password is the e-mail address, or its first part: choose another."
        case .credentialsWrong: "There is no account of this e-mail address and password."
        case .passwordWrong: "The account has another password: nothing was changed."
        case .refreshTokenInvalid: "The refresh token is unknown, or its session has ended: log in."
        case .refreshTokenExpired: "The refresh token has expired: log in."
        case .refreshTokenReused:
            "The refresh token was used before, so somebody may have a copy: its session was ended; log in."
        case .accountNotFound: "The user has no account here."
        case .passwordNotHashed: "The password could not be looked at now: try again later."
        }
    }
}
