import HTTPTypes
import Hummingbird

/// A page of the console: the content of `main`, and what the layout shows around it.
struct Page: Sendable {
    let title: Phrase
    /// The entry of the navigation that the page belongs to. Nil on pages for visitors.
    var section: ConsoleSection?
    let content: HTML

    init(_ title: Phrase, section: ConsoleSection? = nil, @HTMLBuilder content: () -> HTML) {
        self.title = title
        self.section = section
        self.content = content()
    }

    func response(_ context: ConsoleContext, status: HTTPResponse.Status = .ok) -> Response {
        let text = "<!DOCTYPE html>\n" + Layout(page: self, context: context).html.render(context.language)
        return Response(
            status: status, headers: [.contentType: "text/html; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}

extension Response {
    /// Sends the browser to another page after a form (RFC 9110 section 15.4.4).
    static func seeOther(_ path: ConsolePath) -> Response {
        Response(status: .seeOther, headers: [.location: path.text])
    }
}
