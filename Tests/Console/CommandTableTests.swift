import Console
import HTTPSupport
import Hummingbird
import TestSupport
import Testing

/// The table of the document that names the command of each form.
@Suite struct CommandTableTests {
    /// The paths of the forms below `/console/`, as the console receives them with every feature on.
    private func forms() async throws -> Set<String> {
        let fixture = try await ConsoleFixture()
        let router = Router(context: ServiceContext.self)
        ConsoleRoutes(fixture.services, isSecure: false).add(to: router)
        let paths = router.routes.filter { $0.method == .post }.map { "\($0.path)" }
        return Set(paths.filter { !$0.hasSuffix("**") }.map { String($0.trimmingPrefix("/console/")) })
    }

    @Test func `the documentation names the command of each form, or the reason why it has none`() async throws {
        let page = try Project.text("Documentation/Console.md")
        let table = try #require(
            page.components(separatedBy: "\n| form | command |\n").last?.components(separatedBy: "\n\n").first)
        var named: [String] = []
        for row in table.split(separator: "\n").dropFirst() {
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            try #require(cells.count == 2, "\(row)")
            named += cells[0].matches(of: /`([^`]+)`/).map { String($0.1) }
            #expect(cells[1].contains("`till ") || cells[1].hasPrefix("none: "), "\(row)")
        }
        #expect(Set(named).count == named.count)
        let forms = try await forms()
        #expect(forms.count > 70)
        #expect(forms.subtracting(named) == [], "Name the commands of these forms in Documentation/Console.md.")
        #expect(Set(named).subtracting(forms) == [], "The console has no such forms.")
    }
}
