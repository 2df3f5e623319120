import Features
import HTTPSupport
import Hummingbird

/// A group of pages, with the permission that each one needs.
struct ConsolePages {
    let group: RouterGroup<ConsoleContext>

    /// Adds a page.
    func get(
        _ path: RouterPath,
        _ permission: TeamPermission = .view,
        _ page: @Sendable @escaping (Request, ConsoleContext) async throws -> Page
    ) {
        answer(path, permission) { request, context in try await page(request, context).response(context) }
    }

    /// Adds an answer that is no page, such as a picture or a file.
    func answer(
        _ path: RouterPath,
        _ permission: TeamPermission = .view,
        _ answer: @Sendable @escaping (Request, ConsoleContext) async throws -> Response
    ) {
        permitted(permission).get(path, use: answer)
    }

    /// Adds the receiver of a form. It returns the page to show next.
    func post(
        _ path: RouterPath,
        _ permission: TeamPermission,
        _ action: @Sendable @escaping (Request, ConsoleContext) async throws -> ConsolePath
    ) {
        permitted(permission).post(path) { request, context in
            Response.seeOther(try await action(request, context))
        }
    }

    /// Adds the receiver of a form that answers with a page, such as one that stores nothing.
    func postPage(
        _ path: RouterPath,
        _ permission: TeamPermission,
        _ page: @Sendable @escaping (Request, ConsoleContext) async throws -> Page
    ) {
        permitted(permission).post(path) { request, context in try await page(request, context).response(context) }
    }

    /// Adds the receiver of a form that answers by itself, such as with the form and its errors.
    func postAnswer(
        _ path: RouterPath,
        _ permission: TeamPermission,
        _ answer: @Sendable @escaping (Request, ConsoleContext) async throws -> Response
    ) {
        permitted(permission).post(path, use: answer)
    }

    private func permitted(_ permission: TeamPermission) -> RouterGroup<ConsoleContext> {
        group.group().add(middleware: PermissionMiddleware(permission: permission))
    }
}
