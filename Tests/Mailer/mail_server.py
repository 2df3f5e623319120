"""A mail server (aiosmtpd) for tests, on a free port of this machine, until its standard input ends.

    python mail_server.py FOLDER [--tls none|starttls|implicit] [--certificate FILE --key FILE] [--password PASSWORD]

It prints its port in a line, and writes each message that it accepts to FOLDER, numbered. With a password, it accepts messages of
the user "garden" alone. A mailbox at refused.example does not exist; one at busy.example is busy at the first attempt.
"""

import argparse
import asyncio
import os
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword


class Mailbox:
    def __init__(self, folder):
        self.folder = folder
        self.count = 0
        self.tried = set()

    async def handle_RCPT(self, server, session, envelope, address, options):
        domain = address.rpartition("@")[2]
        if domain == "refused.example":
            return "550 5.1.1 No such mailbox"
        if domain == "busy.example" and address not in self.tried:
            self.tried.add(address)
            return "451 4.3.0 Try again"
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 OK"

    async def handle_DATA(self, server, session, envelope):
        self.count += 1
        path = os.path.join(self.folder, f"{self.count:04}.eml")
        with open(path + ".part", "wb") as file:
            file.write(f"X-Envelope-From: {envelope.mail_from}\r\n".encode())
            file.write(f"X-Envelope-To: {', '.join(envelope.rcpt_tos)}\r\n".encode())
            file.write(f"X-TLS: {'yes' if server.transport.get_extra_info('ssl_object') else 'no'}\r\n".encode())
            file.write(f"X-Hello: {session.host_name}\r\n".encode())
            file.write(envelope.original_content)
        # Whoever lists the folder sees whole messages alone.
        os.rename(path + ".part", path)
        return "250 2.0.0 OK"


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--tls", choices=["none", "starttls", "implicit"], default="none")
    parser.add_argument("--certificate")
    parser.add_argument("--key")
    parser.add_argument("--password")
    options = parser.parse_args()
    settings = {"enable_SMTPUTF8": False}
    context = None
    if options.tls != "none":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.certificate, options.key)
    if options.tls == "starttls":
        settings.update(tls_context=context, require_starttls=True)
    if options.password is not None:

        def authenticate(server, session, envelope, mechanism, data):
            isRight = isinstance(data, LoginPassword) and (data.login, data.password) == (
                b"garden",
                options.password.encode(),
            )
            return AuthResult(success=isRight, handled=False)

        settings.update(authenticator=authenticate, auth_required=True, auth_require_tls=options.tls == "starttls")
    mailbox = Mailbox(options.folder)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: SMTP(mailbox, hostname="mail.example", loop=loop, **settings),
        host="127.0.0.1",
        port=0,
        ssl=context if options.tls == "implicit" else None,
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(main())
