import Features
import HTTPSupport
import Hummingbird
import Proofs

/// The context of a request for a page of the console.
struct ConsoleContext: ChildRequestContext {
    var coreContext: CoreRequestContextStorage
    let service: ServiceContext
    var language = ConsoleLanguage.english
    /// The secret of the browser's cookie: a session, or a visit without one. Its forms are bound to it.
    var cookie = ""
    /// The member of the session. Nil on the pages for visitors.
    var member: TeamMember?
    /// The entries of the navigation that the member may use.
    var sections: [ConsoleSection] = []
    /// The page that the request reads. Nil for a form, and outside of a session.
    var page: ConsolePath?
    /// The form that the request sends. Empty for a request that reads.
    var form = ConsoleForm()

    /// The confirmation of the form that led to this page.
    var notice: Notice?

    init(context: ServiceContext) {
        coreContext = context.coreContext
        service = context
    }

    /// The token that the forms of this cookie carry against forgery. It follows from the cookie and does not reveal it.
    var formToken: String {
        Base64.encode(
            MessageAuthentication.hmacSHA256(of: Array("form".utf8), secret: Array(cookie.utf8)), .urlSafe)
    }

    func may(_ permission: TeamPermission) -> Bool {
        member?.role.permissions.contains(permission) ?? false
    }

    /// The member who acts.
    ///
    /// - Throws: `Problem` if the page needs no session. This is a defect of the console.
    var requiredMember: TeamMember {
        get throws(Problem) {
            guard let member else { throw .unexpected }
            return member
        }
    }
}
