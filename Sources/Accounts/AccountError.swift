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
    /// The link is unknown, was used, or is for something else.
    case linkInvalid
    case linkExpired
    /// The account has verified its address.
    case emailVerified
    case emailUnchanged
    /// The address or the account has had as many mails as it gets in an hour.
    case mailTooOften
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
        case .linkInvalid: "linkInvalid"
        case .linkExpired: "linkExpired"
        case .emailVerified: "emailVerified"
        case .emailUnchanged: "emailUnchanged"
        case .mailTooOften: "mailTooOften"
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
        case .linkInvalid: "The link is unknown, was used, or is for something else: ask for a new one."
        case .linkExpired: "The link has expired: ask for a new one."
        case .emailVerified: "The account has verified its e-mail address: nothing was changed."
        case .emailUnchanged: "The account has this e-mail address: give another one."
        case .mailTooOften: "Too many mails were asked for in an hour: wait, and look for those that were sent."
        case .passwordNotHashed: "The password could not be looked at now: try again later."
        }
    }
}
