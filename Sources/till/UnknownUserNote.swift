import HTTPSupport
import Proofs

extension UserCallOptions {
    /// The user of a command, with the issuer.
    func named(_ user: User) -> User { User(issuer: issuer ?? "", name: user.name) ?? user }
}

extension UnknownUser {
    /// The statement of a command about the user that it was given.
    func sentence(about user: User) -> String { sentence(about: user, option: "--issuer") }
}

extension Terminal {
    /// Says that the service does not know the user of a command.
    ///
    /// - Parameter unknown: Nil for a known user.
    func note(_ unknown: UnknownUser?, about user: User) {
        if let unknown { note(unknown.sentence(about: user)) }
    }
}
